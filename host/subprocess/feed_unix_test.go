//go:build unix

package subprocess

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipes are the two kinds that cannot be sought back.
var pipes = map[string]func() (r, w *os.File, err error){
	"pipe": os.Pipe,
	"socket": func() (*os.File, *os.File, error) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return nil, nil, err
		}
		return os.NewFile(uintptr(fds[0]), "left"), os.NewFile(uintptr(fds[1]), "right"), nil
	},
}

func TestPipeIsReplayedAndThenLive(t *testing.T) {
	for name, open := range pipes {
		t.Run(name, func(t *testing.T) {
			r, w, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s := newStdin(t, r)
			io.WriteString(w, "one two ")
			if got := cat(t, s, "4", "1"); got != "one " { // reads a part, and the pipe is open
				t.Errorf("first: %q", got)
			}
			if got := cat(t, s, "8", "1"); got != "one two " {
				t.Errorf("second: %q", got)
			}
			if got := cat(t, s, "0", "1"); got != "" { // reads nothing
				t.Errorf("third: %q", got)
			}
			io.WriteString(w, "three")
			w.Close()
			for range 2 {
				if got := cat(t, s, "-1", "0"); got != "one two three" {
					t.Errorf("then: %q", got)
				}
			}
		})
	}
}

func TestLargePipeIsReplayed(t *testing.T) {
	const size = 3 << 20
	want, _ := io.ReadAll(io.LimitReader(noise(), size))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() { w.Write(want); w.Close() }()
	s := newStdin(t, r)
	if got := cat(t, s, "1000000", "1"); got != string(want[:1000000]) {
		t.Errorf("first: %d bytes", len(got))
	}
	for range 2 {
		if got := cat(t, s, "-1", "0"); got != string(want) {
			t.Errorf("then: %d bytes, or others", len(got))
		}
	}
}

func TestEmptyPipeIsEmptyEachTime(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.Close()
	s := newStdin(t, r)
	for range 2 {
		if got := cat(t, s, "-1", "0"); got != "" {
			t.Errorf("read %q", got)
		}
	}
}

// A child that does not read takes at most what a pipe holds and one piece.
func TestPipeIsNotReadAheadWithoutBound(t *testing.T) {
	const size, ahead = 4 << 20, 256 << 10
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newStdin(t, r)
	go func() { w.Write(make([]byte, size)); w.Close() }()
	dir := t.TempDir()
	c := command(t, "wait", filepath.Join(dir, "end"), "")
	c.Stdin = s
	go func() {
		time.Sleep(300 * time.Millisecond)
		os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
	}()
	if e, _, _ := attempt(t, c); *e.Result.ExitCode != 0 {
		t.Fatal(e.Result)
	}
	if s.length > ahead {
		t.Errorf("%d bytes were taken from the pipe", s.length)
	}
	rest, err := io.Copy(io.Discard, r) // what the next program on the pipe gets
	if err != nil || rest+s.length != size {
		t.Errorf("%d bytes taken, %d left, %v", s.length, rest, err)
	}
	r.Close()
}

// After an attempt nothing is read from the pipe.
func TestNothingIsTakenAfterTheAttempt(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := newStdin(t, r)
	cat(t, s, "0", "0")
	io.WriteString(w, "for the next one")
	time.Sleep(100 * time.Millisecond) // who still waits for input has it by now
	w.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "for the next one" {
		t.Errorf("%q, %v", got, err)
	}
}

// A second attempt that could not get the same input is refused.
func TestInputThatIsLostIsRefused(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	io.WriteString(w, "once")
	w.Close()
	s := newStdin(t, r)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if got := cat(t, s, "-1", "1"); got != "once" {
		t.Errorf("first: %q", got)
	}
	c := command(t, "cat", "-1", "0")
	c.Stdin = s
	var start *StartError
	if _, err := c.Attempt(t.Context()); !errors.As(err, &start) || start.ExitCode != 126 || !strings.Contains(err.Error(), "given again") {
		t.Errorf("second: %v", err)
	}
}
