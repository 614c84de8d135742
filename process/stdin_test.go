//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func newStdin(t *testing.T, f *os.File) *Stdin {
	t.Helper()
	return stdinOf(t, f, Replay)
}

func stdinOf(t *testing.T, f *os.File, mode StdinMode) *Stdin {
	t.Helper()
	s, err := NewStdin(f, mode)
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

// refused attempts to read stdin, which must be refused with these words.
func refused(t *testing.T, s *Stdin, words ...string) {
	t.Helper()
	c := command(t, "cat", "-1", "0")
	c.Stdin = s
	_, err := c.Attempt(t.Context())
	var start *StartError
	if !errors.As(err, &start) || start.ExitCode != exitCannotRun {
		t.Fatalf("expected a refusal, not %v", err)
	}
	for _, w := range append(words, "standard input cannot be given again") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// unstarted attempts to run what is not there.
func unstarted(t *testing.T, s *Stdin) {
	t.Helper()
	c := &Command{Argv: []string{filepath.Join(t.TempDir(), "missing")}, Stdin: s}
	var start *StartError
	if _, err := c.Attempt(t.Context()); !errors.As(err, &start) || start.ExitCode != exitNotFound {
		t.Fatalf("expected that it cannot be started, not %v", err)
	}
}

func opened(t *testing.T, text string, flags int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestNoStdinIsEmpty(t *testing.T) {
	none, err := NewStdin(nil, None)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Stdin{nil, none, none} {
		if got := cat(t, s, "-1", "0"); got != "" {
			t.Errorf("read %q", got)
		}
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}

// Nothing of an input is touched that nobody shall have.
func TestNoneLeavesTheInputAlone(t *testing.T) {
	for kind := range pipes {
		r, w := openBoth(t, kind)
		io.WriteString(w, "for the next one")
		if got := cat(t, stdinOf(t, r, None), "-1", "0"); got != "" {
			t.Errorf("%s: read %q", kind, got)
		}
		if got := rest(t, r, w); got != "for the next one" {
			t.Errorf("%s: %q is left", kind, got)
		}
	}
}

// The child reads from where the caller stands, and what the last attempt left
// is for whoever reads on, whatever an earlier one had read.
func TestFileIsReadFromItsPlaceEachTime(t *testing.T) {
	for _, flags := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND} {
		f := opened(t, "header\nline 1\nline 2\n", flags)
		io.CopyN(io.Discard, f, 7)
		s := newStdin(t, f)
		for _, c := range [][2]string{{"4", "line"}, {"-1", "line 1\nline 2\n"}, {"7", "line 1\n"}} {
			if got := cat(t, s, c[0], "1"); got != c[1] {
				t.Errorf("an attempt read %q, want %q", got, c[1])
			}
		}
		unstarted(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(f); string(got) != "line 2\n" {
			t.Errorf("%q is left", got)
		}
	}
}

// A shell's next command reads on where the wrapped one stopped.
func TestFileIsSharedWithTheShell(t *testing.T) {
	f := opened(t, "1\n2\n3\n4\n5\n", os.O_RDONLY)
	got := twice(t, `read a; $twice replay 1 sh -c 'read b; read c; echo $b $c'; cat`, f)
	if got != "2 3\n4\n5\n" {
		t.Errorf("%q", got)
	}
}

func TestNullDeviceIsHandedOn(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, mode := range []StdinMode{"", Replay, Pass} {
		s := stdinOf(t, f, mode)
		for range 2 {
			if s.kind != handedOn || cat(t, s, "-1", "0") != "" {
				t.Errorf("%s: kind %d", mode, s.kind)
			}
		}
	}
}

// Go's runtime opens the null device in the place of what is closed.
func TestProgramWithAClosedStdin(t *testing.T) {
	for _, mode := range []StdinMode{Replay, Pass, None} {
		if got := twice(t, fmt.Sprintf(`$twice %s 1 sh -c 'wc -c; exit 1' <&-; echo over`, mode), nil); got != "over\n" {
			t.Errorf("%s: %q", mode, got)
		}
	}
}

func TestPassedPipeServesOneAttempt(t *testing.T) {
	for kind := range pipes {
		r, w := openBoth(t, kind)
		s := stdinOf(t, r, Pass)
		unstarted(t, s) // took nothing
		io.WriteString(w, "one two")
		if got := cat(t, s, "4", "1"); got != "one " {
			t.Errorf("%s: read %q", kind, got)
		}
		refused(t, s, "an earlier attempt", "may have read")
		if got := rest(t, r, w); got != "two" {
			t.Errorf("%s: %q is left", kind, got)
		}

		r, w = openBoth(t, kind)
		s = stdinOf(t, r, Pass)
		w.Close()
		cat(t, s, "-1", "1") // nobody can tell that it was empty before
		refused(t, s, "an earlier attempt")
	}
}

// A passed pipe is the very same one.
func TestPassedPipeIsTheSame(t *testing.T) {
	r, w := openBoth(t, "pipe")
	defer w.Close()
	c := &Command{Argv: []string{"sh", "-c", "ls -iL /dev/fd/0"}, Stdin: stdinOf(t, r, Pass)}
	_, stdout, stderr := attempt(t, c)
	var want unix.Stat_t
	if err := unix.Fstat(int(r.Fd()), &want); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(strings.TrimSpace(stdout), fmt.Sprint(want.Ino)) {
		t.Errorf("the child has %q, %q, not %d", stdout, stderr, want.Ino)
	}
}

// A file tells whether an attempt has read of it.
func TestPassedFileServesAttemptsUntilOneReads(t *testing.T) {
	f := opened(t, "header\nrest", os.O_RDONLY)
	io.CopyN(io.Discard, f, 7)
	s := stdinOf(t, f, Pass)
	unstarted(t, s)
	cat(t, s, "0", "1")
	if got := cat(t, s, "2", "1"); got != "re" {
		t.Errorf("read %q", got)
	}
	refused(t, s, "from byte 7 to 9")
	if got, _ := io.ReadAll(f); string(got) != "st" {
		t.Errorf("%q is left", got)
	}
}

// What is no stream of bytes cannot be copied as one.
func TestSocketOfMessagesIsHandedOnOnce(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "left"), os.NewFile(uintptr(fds[1]), "right")
	defer r.Close()
	defer w.Close()
	s := newStdin(t, r)
	io.WriteString(w, "message")
	if got := cat(t, s, "7", "1"); got != "message" {
		t.Errorf("read %q", got)
	}
	refused(t, s, "an earlier attempt")
}

func TestListeningSocketIsHandedOnOnce(t *testing.T) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(t.TempDir(), "s")}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	if exact("pipe") && newStdin(t, f).kind != once {
		t.Error("it is taken for a stream")
	}
}

// 0>&1 in a script: the child may write to its input.
func TestInputThatIsForWritingIsHandedOn(t *testing.T) {
	r, w := openBoth(t, "pipe")
	s := newStdin(t, w)
	for range 2 {
		c := &Command{Argv: []string{"sh", "-c", "echo hello >&0"}, Stdin: s}
		if e, _, stderr := attempt(t, c); !e.Result.OK() {
			t.Errorf("%+v, %q", e.Result, stderr)
		}
	}
	if got := rest(t, r, w); got != "hello\nhello\n" {
		t.Errorf("%q", got)
	}
}

func TestClosedStdinIsRefused(t *testing.T) {
	r, w := openBoth(t, "pipe")
	io.WriteString(w, "once")
	w.Close()
	s := newStdin(t, r)
	cat(t, s, "-1", "0")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, s, "closed")
}

func TestNewStdinNeedsAnOpenFileAndAMode(t *testing.T) {
	f := opened(t, "", os.O_RDONLY)
	if _, err := NewStdin(f, "replays"); err == nil || !strings.Contains(err.Error(), `expected replay, pass or none, not "replays"`) {
		t.Error(err)
	}
	f.Close()
	if _, err := NewStdin(f, Replay); err == nil {
		t.Error("a closed file is taken")
	}
}
