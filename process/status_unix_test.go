//go:build unix

package process

import (
	"syscall"
	"testing"
)

func TestShellStatus(t *testing.T) {
	e, _, _ := attempt(t, command(t, "say", "", "", "75"))
	if got := e.ShellStatus(); got != 75 {
		t.Errorf("exit code 75 gives %d", got)
	}
	e, _, _ = attempt(t, command(t, "die", "9"))
	if got := e.ShellStatus(); got != 137 {
		t.Errorf("SIGKILL gives %d", got)
	}
}

func TestSignalNumbers(t *testing.T) {
	for s := syscall.Signal(1); s < 65; s++ { // real-time signals have no names
		if got := signalNumber(signalName(s)); got != s {
			t.Errorf("%d is %q is %d", int(s), signalName(s), int(got))
		}
	}
}
