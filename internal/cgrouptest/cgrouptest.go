// Package cgrouptest gives tests a real control group with a memory limit.
package cgrouptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Group is a control group of version 1, below the test's own.
type Group struct{ dir string }

// New makes a group whose processes have so many bytes of memory and no swap. The
// test is skipped where that cannot be: it takes version 1 and root's rights.
func New(t testing.TB, limit int64) *Group {
	t.Helper()
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("no control groups: %v", err)
	}
	own := ""
	for line := range strings.Lines(string(groups)) {
		if _, way, ok := strings.Cut(strings.TrimSpace(line), ":memory:"); ok {
			own = filepath.Join("/sys/fs/cgroup/memory", way)
		}
	}
	if own == "" {
		t.Skip("no memory controller of version 1")
	}
	dir, err := os.MkdirTemp(own, "outlast-test-")
	if err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	g := &Group{dir}
	t.Cleanup(func() { g.remove(t) })
	if err := os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
		t.Skipf("no limit can be set: %v", err)
	}
	return g
}

// remove removes the group. Its processes have ended, and the kernel may still count
// one for a moment.
func (g *Group) remove(t testing.TB) {
	var err error
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("the control group is still in use: %v", err)
}

// Start has a command start within the group, by way of a shell.
func (g *Group) Start(cmd *exec.Cmd) {
	cmd.Args = append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs"), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
}

// Peak is the most memory that the group ever used, in bytes, pages of files included.
func (g *Group) Peak(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, "memory.max_usage_in_bytes"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
