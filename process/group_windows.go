package process

import (
	"os"
	"os/exec"
	"syscall"
)

// hasTerminal matters for process groups only, which Windows does not have.
func hasTerminal() bool { return false }

// leadGroup does nothing: Windows has no process groups that a signal reaches.
func leadGroup(*exec.Cmd) {}

// signal kills the child, whatever the signal: Windows knows no other way to
// end a process without a window. What the child started is left running.
func (p *process) signal(syscall.Signal) error {
	_ = p.cmd.Process.Kill()
	return nil
}

// kill and resume are never needed: rest finds nothing, and nothing is stopped.
func kill(int, syscall.Signal) error { return nil }
func (p *process) resume()           {}

func (p *process) inGroup(int) bool { return false }

func refuses(int) bool { return false }

func signalName(s syscall.Signal) string { return s.String() }

func howItEnded(state *os.ProcessState) (*int64, string) {
	code := int64(state.ExitCode())
	return &code, ""
}
