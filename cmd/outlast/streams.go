package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"outlast/cmd/outlast/internal/aside"
	"outlast/cmd/outlast/internal/exit"
)

// stdout is where the verbs print. It remembers what could not be written, which
// realMain tells: a page that is cut off by a full disk must not look whole.
var stdout = &remembering{file: os.Stdout}

type remembering struct {
	file *os.File
	err  error // the first
}

func (r *remembering) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// lost is an error of its own for what could not be printed; nil if all was.
func (r *remembering) lost() error {
	if r.err == nil {
		return nil
	}
	return exit.Unusable(fmt.Errorf("standard output: %w", r.err))
}

// toStdout prints in few writes.
func toStdout(write func(w io.Writer) error) error {
	out := bufio.NewWriter(stdout) // it keeps the first error
	return errors.Join(write(out), out.Flush())
}

// stderr is where the tool speaks: nowhere under a link, where it is the
// command's alone. Nobody waits for who does not read it.
var stderr io.Writer = aside.New(os.Stderr, nil)

// leave ends the process, once what was said is written or takes too long.
func leave(code int) {
	if said, ok := stderr.(*aside.Writer); ok {
		said.Flush(aside.AtExit)
	}
	os.Exit(code)
}
