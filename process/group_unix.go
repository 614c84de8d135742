//go:build unix

package process

import (
	"errors"
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
func (p *process) signal(s syscall.Signal) error {
	if p.group {
		return unlessGone(syscall.Kill(-p.pid(), s))
	}
	return unlessGone(p.cmd.Process.Signal(s))
}

func unlessGone(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// refuses says that the process runs and may not be signalled from here, such as
// one that has become another user's.
func refuses(pid int) bool { return syscall.Kill(pid, 0) == syscall.EPERM }

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

func kill(pid int, s syscall.Signal) error { return unlessGone(syscall.Kill(pid, s)) }

// resume lets a stopped process see what it was sent.
func (p *process) resume() { _ = p.signal(syscall.SIGCONT) }

// inGroup says whether pid, or the group that a negative one stands for, is of
// the group that the process leads.
func (p *process) inGroup(pid int) bool {
	if !p.group || pid == -p.pid() {
		return p.group
	}
	group, err := syscall.Getpgid(pid)
	return err == nil && group == p.pid()
}
