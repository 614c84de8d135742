//go:build unix

package process

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The children that the tests of standard input need.
func init() {
	// sum CODE: the SHA-256 of stdin
	children["sum"] = func(args []string) {
		h := sha256.New()
		_, err := io.Copy(h, os.Stdin)
		must(err)
		fmt.Printf("%x", h.Sum(nil))
		os.Exit(number(args[0]))
	}
	// part BYTES READ END: reads some and says so, then waits, then the rest
	children["part"] = func(args []string) {
		_, err := io.CopyN(os.Stdout, os.Stdin, int64(number(args[0])))
		must(err)
		writePid(args[1])
		waitForFile(args[2])
		io.Copy(os.Stdout, os.Stdin)
	}
	// shut BYTES READ END: the same, but shuts its stdin
	children["shut"] = func(args []string) {
		_, err := io.CopyN(os.Stdout, os.Stdin, int64(number(args[0])))
		must(err)
		os.Stdin.Close()
		writePid(args[1])
		waitForFile(args[2])
	}
	// heir BYTES READY FILE: reads some, and leaves a process with its stdin
	children["heir"] = func(args []string) {
		_, err := io.CopyN(os.Stdout, os.Stdin, int64(number(args[0])))
		must(err)
		self, err := os.Executable()
		must(err)
		cmd := exec.Command(self, args[1:]...)
		cmd.Env = append(os.Environ(), childEnv+"=inherit")
		cmd.Stdin = os.Stdin
		must(cmd.Start())
		waitForFile(args[1])
	}
	// inherit READY FILE: says how much more of stdin there was
	children["inherit"] = func(args []string) {
		writePid(args[0])
		waitForFile(args[0] + ".end")
		n, err := io.Copy(io.Discard, os.Stdin)
		must(err)
		must(os.WriteFile(args[1]+".new", fmt.Append(nil, n), 0o600))
		must(os.Rename(args[1]+".new", args[1]))
	}
	// twice MODE CODE ARGV...: what a small program does with this package: it
	// runs the command once, and a second time if that ended with the code
	children["twice"] = func(args []string) {
		s, err := NewStdin(os.Stdin, StdinMode(args[0]))
		must(err)
		defer s.Close()
		c := &Command{Argv: args[2:], Env: withoutRole(os.Environ()), Stdin: s, Stdout: os.Stdout, Stderr: os.Stderr}
		for range 2 {
			e, err := c.Attempt(context.Background())
			must(err)
			if *e.Result.ExitCode != int64(number(args[1])) {
				must(e.Commit())
				return
			}
			e.Discard()
		}
	}
}

func withoutRole(env []string) (rest []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, childEnv+"=") {
			rest = append(rest, e)
		}
	}
	return rest
}

// twice is a shell script in which $twice runs a command as the child above.
func twice(t *testing.T, script string, stdin io.Reader) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "twice=env "+childEnv+"=twice GORACE=atexit_sleep_ms=0 "+self)
	cmd.Stdin, cmd.Dir = stdin, t.TempDir()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", script, err)
	}
	return string(out)
}

// pipes are the two kinds that cannot be sought back.
var pipes = map[string]func() (r, w *os.File, err error){
	"pipe": os.Pipe,
	"socket": func() (*os.File, *os.File, error) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return nil, nil, err
		}
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
		return os.NewFile(uintptr(fds[0]), "left"), os.NewFile(uintptr(fds[1]), "right"), nil
	},
}

// openBoth gives the two ends of a pipe or socket.
func openBoth(t testing.TB, kind string) (r, w *os.File) {
	t.Helper()
	r, w, err := pipes[kind]()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// rest is all that is left for the next reader once w is closed.
func rest(t testing.TB, r, w *os.File) string {
	t.Helper()
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// text is n bytes of noise, the same every time.
func text(n int) string {
	b, _ := io.ReadAll(io.LimitReader(noise(), int64(n)))
	return string(b)
}
