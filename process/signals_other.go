//go:build unix && !linux

package process

import (
	"os/signal"
	"syscall"
)

// canIgnore: all that atstart can tell of here.
func canIgnore(s syscall.Signal) bool { return s == syscall.SIGHUP || s == syscall.SIGINT }

// lateSignals is the one that a caller's alarm(2) sends.
func lateSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGALRM} }

// endDefault: os/signal cannot give the others their default effect.
func endDefault(s syscall.Signal) bool {
	signal.Reset(s)
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP
}

func asAtStart(f func() error) error { return f() }
