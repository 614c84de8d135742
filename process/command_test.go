//go:build unix

package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExitCodesAndBothStreamsApart(t *testing.T) {
	for _, code := range []string{"0", "1", "2", "4", "75", "101", "255"} {
		c := command(t, "say", "out\r\n\x00\xff", "err \x1b[91mred\x1b[0m", code)
		c.Argv[1] = "out\r\n\xff" // no NUL in an argument
		e, stdout, stderr := attempt(t, c)
		if got := *e.Result.ExitCode; got != int64(number(code)) || e.Result.Signal != "" {
			t.Errorf("exit %s: got code %d, signal %q", code, got, e.Result.Signal)
		}
		if stdout != "out\r\n\xff" || stderr != "err \x1b[91mred\x1b[0m" {
			t.Errorf("exit %s: output is %q and %q", code, stdout, stderr)
		}
		if e.Result.Stdout.Head != "out\r\n\uFFFD" || e.Result.Stderr.Head != stderr {
			t.Errorf("exit %s: the policy gets %q and %q", code, e.Result.Stdout.Head, e.Result.Stderr.Head)
		}
		if e.Result.Streamed || e.Result.TimedOut || e.Cancelled {
			t.Errorf("exit %s: %+v", code, e.Result)
		}
	}
}

func TestSignalsAreNamed(t *testing.T) {
	for signal, name := range map[string]string{"9": "SIGKILL", "15": "SIGTERM", "1": "SIGHUP"} {
		e, stdout, _ := attempt(t, command(t, "die", signal))
		if e.Result.ExitCode != nil || e.Result.Signal != name {
			t.Errorf("signal %s: got %+v", signal, e.Result)
		}
		if name == "SIGKILL" && stdout != "before the signal" {
			t.Errorf("signal %s: stdout %q", signal, stdout)
		}
		if e.Result.OK() || !e.Result.IsProcess() {
			t.Errorf("signal %s: taken for a success", signal)
		}
	}
}

func TestEnvironmentAndDirectory(t *testing.T) {
	c := command(t, "env", "WORD")
	c.Env = append(c.Env, "WORD=from the caller")
	c.Dir, _ = filepath.EvalSymlinks(t.TempDir())
	if _, stdout, _ := attempt(t, c); stdout != "from the caller\n"+c.Dir {
		t.Errorf("the child says %q", stdout)
	}
}

func TestTimesAreOfTheHostsClock(t *testing.T) {
	now := int64(1000)
	c := command(t, "say", "", "", "0")
	c.Clock = func() int64 { now += 7; return now }
	e, _, _ := attempt(t, c)
	if *e.Result.StartedUS != 1007 || *e.Result.EndedUS != 1014 {
		t.Errorf("from %d to %d", *e.Result.StartedUS, *e.Result.EndedUS)
	}
	c.Clock = nil
	e, _, _ = attempt(t, c)
	if took := *e.Result.EndedUS - *e.Result.StartedUS; took <= 0 || *e.Result.StartedUS <= 0 {
		t.Errorf("without a clock: started %d, took %d", *e.Result.StartedUS, took)
	}
}

// hashing counts and hashes, and watches the heap.
type hashing struct {
	hash.Hash
	n, nextLook, peak int64
}

func (h *hashing) Write(p []byte) (int, error) {
	h.n += int64(len(p))
	if h.n >= h.nextLook {
		h.nextLook += 1 << 20
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.peak = max(h.peak, int64(m.HeapAlloc))
	}
	return h.Hash.Write(p)
}

func TestLargeOutputByteForByteInLittleMemory(t *testing.T) {
	const size = 64 << 20
	want := sha256.New()
	io.CopyN(want, noise(), size)

	runtime.GC()
	got := &hashing{Hash: sha256.New()}
	c := command(t, "noise", "67108864", "3")
	c.Stdout = got
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(); err != nil {
		t.Fatal(err)
	}
	if got.n != size || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("%d bytes, and not those that the child wrote", got.n)
	}
	if got.peak > 32<<20 {
		t.Errorf("%d MiB of heap", got.peak>>20)
	}
	if *e.Result.ExitCode != 3 || !e.Result.Streamed || !e.Result.Stdout.Cut {
		t.Errorf("code %d, streamed %v, cut %v", *e.Result.ExitCode, e.Result.Streamed, e.Result.Stdout.Cut)
	}
}

func TestOutputUpToTheLimitIsHeld(t *testing.T) {
	for _, c := range []struct {
		size     string
		streamed bool
	}{{"65536", false}, {"65537", true}} {
		e, stdout, _ := attempt(t, command(t, "noise", c.size, "1"))
		if e.Result.Streamed != c.streamed || len(stdout) != number(c.size) {
			t.Errorf("%s bytes: streamed %v, %d shown", c.size, e.Result.Streamed, len(stdout))
		}
	}
}

// announcing tells of the first write.
type announcing struct {
	bytes.Buffer
	first chan struct{}
}

func (a *announcing) Write(p []byte) (int, error) {
	if a.Len() == 0 {
		defer close(a.first)
	}
	return a.Buffer.Write(p)
}

func TestOutputOfALongAttemptIsPassedOnWhileItRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "end")
	out := &announcing{first: make(chan struct{})}
	c := command(t, "wait", file, "working\n")
	c.Stdout = out
	begun := time.Now()
	go func() {
		<-out.first
		if held := time.Since(begun); held < holdTime {
			t.Errorf("held for %v only", held)
		}
		os.WriteFile(file, nil, 0o600)
	}()
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(); err != nil || out.String() != "working\n" || !e.Result.Streamed {
		t.Errorf("%v, %q, streamed %v", err, out.String(), e.Result.Streamed)
	}
}

// gated blocks its first write until it is opened.
type gated struct {
	bytes.Buffer
	reached, open chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	if g.Len() == 0 {
		close(g.reached)
		<-g.open
	}
	return g.Buffer.Write(p)
}

func TestSlowReaderSlowsTheChild(t *testing.T) {
	finished := filepath.Join(t.TempDir(), "finished")
	out := &gated{reached: make(chan struct{}), open: make(chan struct{})}
	c := command(t, "progress", "4194304", finished)
	c.Stdout = out
	go func() {
		<-out.reached
		time.Sleep(300 * time.Millisecond) // the child could have written it all by now
		if _, err := os.Stat(finished); err == nil {
			t.Error("the child did not wait for its reader")
		}
		close(out.open)
	}()
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() != 4194304 || *e.Result.ExitCode != 0 {
		t.Errorf("%d bytes, %+v", out.Len(), e.Result.ExitCode)
	}
}

func TestReaderWhoIsGoneEndsTheChild(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c := command(t, "yes")
	c.Stdout = w
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.Result.Signal != "SIGPIPE" || !e.Result.Streamed {
		t.Errorf("%+v", e.Result)
	}
	if err := e.Commit(); !errors.Is(err, syscall.EPIPE) || !strings.Contains(err.Error(), "stdout") {
		t.Errorf("Commit: %v", err)
	}
}

func TestCancelledBeforeNothingRuns(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	file := filepath.Join(t.TempDir(), "pid")
	if e, err := command(t, "polite", file).Attempt(ctx); e != nil || !errors.Is(err, gone) {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran")
	}
}
