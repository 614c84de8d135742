// Command timed notes that an attempt starts, and becomes the command that it
// stands before: $BENCH_COMMAND, under the name omnigraph. The note is the time,
// in nanoseconds of the wall clock, in a file of the call, which the attempt
// names as its graph.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	fmt.Fprintln(os.Stderr, run(now))
	os.Exit(125)
}

func run(now string) error {
	at := slices.Index(os.Args, "--graph") + 1
	if at < 1 || at >= len(os.Args) {
		return fmt.Errorf("timed: the attempt names no graph: %q", os.Args)
	}
	name := filepath.Join(os.Getenv("BENCH_ATTEMPTS"), os.Args[at])
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(now + "\n"); err != nil {
		return err
	}
	file.Close()
	return syscall.Exec(os.Getenv("BENCH_COMMAND"), os.Args, os.Environ())
}
