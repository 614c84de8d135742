//go:build unix

package process

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// noProcess fails if the process runs; one that nobody has waited for does not.
func noProcess(t *testing.T, pid int) {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
		t.Errorf("process %d is alive: %s", pid, stat)
	}
}

func TestCancelKillsTheGroup(t *testing.T) {
	for what, signal := range map[string]string{
		"family": "SIGKILL", // it ignores SIGTERM
		"last":   "SIGTERM", // which the child outlives
	} {
		dir := t.TempDir()
		child, parent := filepath.Join(dir, "child"), filepath.Join(dir, "parent")
		c := command(t, what, child, parent)
		c.KillAfter = 200 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		go func() { waitForFile(parent); cancel() }()
		e, err := c.Attempt(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e.Result.Signal != signal || !e.Cancelled || e.Result.TimedOut {
			t.Errorf("%s: %+v, cancelled %v", what, e.Result, e.Cancelled)
		}
		noProcess(t, pidIn(t, parent))
		noProcess(t, pidIn(t, child))
	}
}

func TestPoliteChildMayEndByItself(t *testing.T) {
	for signal, want := range map[error]string{
		nil:                       "got terminated",
		Interrupt{syscall.SIGINT}: "got interrupt",
		Interrupt{syscall.SIGHUP}: "got hangup",
		Interrupt{}:               "got terminated",
	} {
		file := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { waitForFile(file); cancel(signal) }()
		var out bytes.Buffer
		c := command(t, "polite", file)
		c.Stdout = &out
		e, err := c.Attempt(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Commit(); err != nil || out.String() != want || *e.Result.ExitCode != 0 {
			t.Errorf("%v: %v, %q, %+v", signal, err, out.String(), e.Result)
		}
	}
}
