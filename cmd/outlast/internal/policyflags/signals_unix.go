//go:build unix

package policyflags

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSignal is the highest signal that a Unix has: Linux's SIGRTMAX.
const maxSignal = 64

// signalName is the name that a result has for signal n; "" if there is none.
func signalName(n int) string {
	if n < 1 || n > maxSignal {
		return ""
	}
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", n) // a real-time signal
}
