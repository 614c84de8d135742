//go:build unix

package subprocess

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func newStdin(t *testing.T, f *os.File) *Stdin {
	t.Helper()
	s, err := NewStdin(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// cat attempts to copy n bytes of stdin, or all for -1.
func cat(t *testing.T, s *Stdin, n, code string) string {
	t.Helper()
	c := command(t, "cat", n, code)
	c.Stdin = s
	e, stdout, stderr := attempt(t, c)
	if *e.Result.ExitCode != int64(number(code)) {
		t.Fatalf("exit code %d, stderr %q", *e.Result.ExitCode, stderr)
	}
	return stdout
}

func TestNoStdinIsEmpty(t *testing.T) {
	if got := cat(t, nil, "-1", "0"); got != "" {
		t.Errorf("read %q", got)
	}
}

func TestFileIsReadFromItsPlaceEachTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("header\nline 1\nline 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	io.CopyN(io.Discard, f, 7) // the caller has read the header
	s := newStdin(t, f)
	for _, c := range [][3]string{{"4", "1", "line"}, {"-1", "1", "line 1\nline 2\n"}, {"-1", "0", "line 1\nline 2\n"}} {
		if got := cat(t, s, c[0], c[1]); got != c[2] {
			t.Errorf("an attempt read %q, want %q", got, c[2])
		}
	}
}

func TestNullDeviceIsHandedOn(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newStdin(t, f)
	if s.kind != handedOn || cat(t, s, "-1", "0") != "" {
		t.Errorf("kind %d", s.kind)
	}
}

func TestClosedStdinIsRefused(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	io.WriteString(w, "once")
	w.Close()
	s := newStdin(t, r)
	cat(t, s, "-1", "0")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := command(t, "cat", "-1", "0")
	c.Stdin = s
	if _, err := c.Attempt(t.Context()); err == nil {
		t.Error("an attempt after Close had no input and ran")
	}
}

func TestNewStdinNeedsAnOpenFile(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := NewStdin(f); err == nil {
		t.Error("a closed file is taken")
	}
}
