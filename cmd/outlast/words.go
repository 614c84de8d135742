package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// seconds is a duration as people read it beside a policy's numbers: in
// seconds, with a decimal where there is one.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// toStdout prints, and says so if not all of it could be written.
func toStdout(write func(w io.Writer) error) error {
	out := bufio.NewWriter(os.Stdout) // it keeps the first error
	if err := errors.Join(write(out), out.Flush()); err != nil {
		return unusable(fmt.Errorf("standard output: %w", err))
	}
	return nil
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func choose(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}
