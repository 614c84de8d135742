//go:build unix

package process

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ShellStatus is the attempt's exit status as a shell gives it: its exit code,
// or 128 and the number of the signal that ended it. It is 1 of a process that
// could not be ended, and of one that SIGPIPE has ended because its output
// could not be written, for another reason than a reader who is gone: Commit says why.
func (e *Ended) ShellStatus() int {
	if e.endedByUs() {
		return 1
	}
	if e.Result.ExitCode != nil {
		return int(*e.Result.ExitCode)
	}
	if e.Result.Signal == "" {
		return 1
	}
	return 128 + int(signalNumber(e.Result.Signal))
}

// signalNumber is the signal that signalName gave this name.
func signalNumber(name string) syscall.Signal {
	if s := unix.SignalNum(name); s != 0 {
		return s
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "SIG"))
	return syscall.Signal(n)
}
