//go:build unix

// Package quit is about SIGQUIT in the first milliseconds of a tool. It needs
// next to nothing, so that it can be set up before all else.
package quit

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"outlast/process/atstart"
)

var (
	mu    sync.Mutex
	quits chan os.Signal // nil: not caught here
)

// Quietly lets SIGQUIT end this process with exit code 131 and without a word,
// until a process.Relay catches it: by itself a Go program prints its
// goroutines and exits with 2. It is for a tool to call once, as early as it can.
// A SIGQUIT that was ignored when the process began is so again.
func Quietly() {
	if atstart.Ignored(syscall.SIGQUIT) {
		signal.Ignore(syscall.SIGQUIT)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	came := make(chan os.Signal, 1)
	quits = came
	signal.Notify(came, syscall.SIGQUIT)
	go func() {
		if _, ok := <-came; ok {
			os.Exit(128 + int(syscall.SIGQUIT))
		}
	}()
}

// Caught ends that: somebody else catches SIGQUIT by now.
func Caught() {
	mu.Lock()
	defer mu.Unlock()
	if quits != nil {
		signal.Stop(quits)
		close(quits)
		quits = nil
	}
}
