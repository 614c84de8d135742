package omnigraph

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// talking starts a command that is talked with: what it reads, and the lines that
// it prints.
func talking(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, lines *bufio.Scanner) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewScanner(out)
}

func lock(t *testing.T, path string) func() error {
	t.Helper()
	held, err := Lock(t.Context(), []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return held.Release
}

func TestLockMakesItsDirectoriesAndKeepsItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "g.omni.lock")
	if err := lock(t, path)(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	release := lock(t, path)
	if text, err := os.ReadFile(path); err != nil || string(text) != "somebody's" {
		t.Errorf("%q, %v", text, err)
	}
	for range 2 { // releasing twice does no harm
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.lock")
	var inside, count atomic.Int64 // a lock of the system's orders nothing for the race detector
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				held, err := Lock(t.Context(), []string{path}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				inside.Add(-1)
				count.Add(1)
				if err := held.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := count.Load(); n != 160 {
		t.Errorf("%d of 160 turns", n)
	}
}

func TestLockErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(file, "g.lock"), dir} {
		if _, err := Lock(t.Context(), []string{path}, nil); err == nil || !strings.HasPrefix(err.Error(), "outlast: ") || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := Lock(ctx, []string{filepath.Join(dir, "g.lock")}, nil); !errors.Is(err, gone) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestParent(t *testing.T) {
	for path, want := range map[string]string{
		"g.lock": ".", "/g.lock": "/", "a/g.lock": "a", "/a/b/g.lock": "/a/b", "a/../g.lock": "a/..",
	} {
		if got := parent(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}

// holder is a Python process that holds the lock as witan-core takes it.
type holder struct {
	t     *testing.T
	in    interface{ Close() error }
	wait  func() error
	lines *bufio.Scanner
}

func pythonHolds(t *testing.T, path string) *holder {
	t.Helper()
	cmd := python(t, `
import fcntl, pathlib, sys
path = pathlib.Path(sys.argv[1])
path.parent.mkdir(parents=True, exist_ok=True)
f = open(path, "w")
fcntl.flock(f.fileno(), fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
fcntl.flock(f.fileno(), fcntl.LOCK_UN)`, path)
	in, lines := talking(t, cmd)
	h := &holder{t: t, in: in, wait: cmd.Wait, lines: lines}
	return h
}

func (h *holder) held() {
	h.t.Helper()
	if !h.lines.Scan() || h.lines.Text() != "held" {
		h.t.Fatalf("Python says %q", h.lines.Text())
	}
}

func (h *holder) release() {
	h.t.Helper()
	h.in.Close()
	if err := h.wait(); err != nil {
		h.t.Error(err)
	}
}

func TestPythonExcludesUs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stores", "g.omni.lock")
	python := pythonHolds(t, path)
	python.held()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, []string{path}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while Python has it: %v", err)
	}
	var got sync.WaitGroup
	got.Go(func() { // waits, first behind the one that gave up
		held, err := Lock(t.Context(), []string{path}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if err := held.Release(); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(50 * time.Millisecond)
	python.release()
	got.Wait()
}

func TestWeExcludePython(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.omni.lock")
	tries := func() string {
		out, err := python(t, `
import fcntl, sys
f = open(sys.argv[1], "w")
try:
    fcntl.flock(f.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("has it")
except BlockingIOError:
    print("is refused")`, path).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	release := lock(t, path)
	defer release()
	if got := tries(); got != "is refused" {
		t.Errorf("while the lock is held, Python %s", got)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if got := tries(); got != "has it" {
		t.Errorf("after its release, Python %s", got)
	}
}
