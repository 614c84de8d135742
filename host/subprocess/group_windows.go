package subprocess

import (
	"os"
	"os/exec"
	"syscall"
)

// leadGroup does nothing: Windows has no process groups that a signal reaches.
func leadGroup(*exec.Cmd) {}

// signal kills the child, whatever the signal: Windows knows no other way to
// end a process without a window. What the child started is left running.
func (p *process) signal(syscall.Signal) {
	_ = p.cmd.Process.Kill()
}

// groupAlive: there is no group to wait for.
func groupAlive(int) bool { return false }

func howItEnded(state *os.ProcessState) (*int64, string) {
	code := int64(state.ExitCode())
	return &code, ""
}
