package process

import (
	"os"
	"os/signal"
	"syscall"
)

func (r *Relay) catch() {
	signal.Notify(r.signals, os.Interrupt, syscall.SIGTERM)
}

func (r *Relay) handle(s syscall.Signal) { r.end(s) }

// isTyped: the system tells each process of a console.
func isTyped(syscall.Signal) bool { return true }

// EndBy exits as a shell would say that the signal ended this process.
func EndBy(s syscall.Signal) { os.Exit(128 + int(s)) }

func (r *Relay) catchRest() {}

func (r *Relay) childChanged() {}
