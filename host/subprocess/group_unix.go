//go:build unix

package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// leadGroup makes the child the leader of a process group of its own.
func leadGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// signal reaches the whole group, or the child alone if it has none. That there
// is nothing left to signal is no error.
func (p *process) signal(s syscall.Signal) {
	if p.group {
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
		return
	}
	_ = p.cmd.Process.Signal(s)
}

func howItEnded(state *os.ProcessState) (*int64, string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return nil, signalName(status.Signal())
	}
	code := int64(state.ExitCode())
	return &code, ""
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s)) // a real-time signal
}
