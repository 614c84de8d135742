//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is how long a script may take until the tool counts as stuck (a
// choice: three attempts with a second between them take two).
const patience = 20 * time.Second

// trial is one run of a tool in a folder of its own.
type trial struct {
	dir            string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	cancel         context.CancelFunc
}

// prepare makes a trial of sh -c script through the tool. Files of the script
// go to its working directory.
func prepare(t tool, script string) (*trial, error) {
	return prepareArgv(t, "sh", "-c", script)
}

func prepareArgv(t tool, argv ...string) (*trial, error) {
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	r := &trial{dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.cancel = cancel
	full := t.argv(t.program, argv)
	r.cmd = exec.CommandContext(ctx, full[0], full[1:]...)
	r.cmd.Dir = dir
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	// A group of its own, to end all of it afterwards; and no controlling terminal.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	r.cmd.WaitDelay = time.Second
	return r, nil
}

// run runs the trial to its end and gives its exit code as a shell has it.
func (r *trial) run() (code int, err error) {
	return r.end(r.cmd.Run())
}

func (r *trial) end(err error) (int, error) {
	defer r.cancel()
	var exit *exec.ExitError
	if r.cmd.ProcessState == nil || errors.Is(err, exec.ErrWaitDelay) {
		return 0, fmt.Errorf("stuck: %w", err)
	}
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return 0, errors.New("stuck")
	}
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// close removes the folder, and what still runs of the script.
func (r *trial) close() {
	r.cancel()
	if pid, err := r.pid("pid"); err == nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	os.RemoveAll(r.dir)
}

// pid reads a process id that the script has left in a file.
func (r *trial) pid(name string) (int, error) {
	text, err := os.ReadFile(r.dir + "/" + name)
	if err != nil {
		return 0, err
	}
	var pid int
	_, err = fmt.Sscan(string(text), &pid)
	return pid, err
}

// await waits until the script has left a file that is not empty.
func (r *trial) await(name string) error {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(r.dir + "/" + name); err == nil && info.Size() > 0 {
			return nil
		}
	}
	return errors.New("the command was not started")
}

func (r *trial) attempts() int {
	text, _ := os.ReadFile(r.dir + "/attempts")
	return strings.Count(string(text), "\n")
}

// alive says whether the process still runs a little later.
func alive(pid int) bool {
	for range 20 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}
	return true
}
