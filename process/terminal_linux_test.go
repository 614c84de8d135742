package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	// pager: shows the first line of its input, waits for a key from the terminal,
	// and shows how many lines there are
	children["pager"] = func([]string) {
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		must(err)
		text := new(bytes.Buffer)
		_, err = text.ReadFrom(os.Stdin)
		must(err)
		first, _, _ := strings.Cut(text.String(), "\n")
		fmt.Fprintf(tty, "first line %s\n", first)
		key := make([]byte, 2)
		_, err = tty.Read(key)
		must(err)
		fmt.Fprintf(tty, "lines: %d, key %q\n", strings.Count(text.String(), "\n"), key)
	}
}

func TestCtrlCEndsTheChildOnceAndTheShellsLoop(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.typed("$T @idle one never 0\n")
	s.await("one")
	s.typed("\x03")
	s.statusIs(130)

	s.program("loop", `for i in 1 2 3; do "$T" @idle two.$i never 0; done`)
	s.typed("bash ./loop\n")
	s.await("two.1")
	s.typed("\x03")
	s.statusIs(130)
	if s.has("two.2") {
		t.Error("the loop went on")
	}
	s.leave()
}

func TestCtrlCInAWaitEndsTheShellsLoop(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("loop", `for i in 1 2 3; do TOOL_ATTEMPTS=2 TOOL_WAIT=1h TOOL_WAITING=waiting.$i "$T" sh -c 'echo sorry >&2; exit 1'; done`)
	s.typed("bash ./loop\n")
	s.await("waiting.1")
	s.typed("\x03")
	s.sees("sorry\r")
	s.statusIs(130)
	if s.has("waiting.2") {
		t.Error("the loop went on")
	}
	s.leave()
}

// An interpreter takes Ctrl-C as "stop this line", once for each, and goes on.
func TestCtrlCForAProgramThatGoesOn(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("repl", `trap 'echo x >>caught' INT; : >ready
		until [ -e go ]; do read line; case $line in quit) exit 7;; esac; done`)
	s.typed("TOOL_ATTEMPTS=3 $T ./repl\n")
	s.await("ready")
	for n := range 3 {
		s.typed("\x03")
		waitUntil(t, func() bool {
			got, _ := os.ReadFile(s.path("caught"))
			return strings.Count(string(got), "x") == n+1
		})
	}
	time.Sleep(50 * time.Millisecond)
	s.typed("quit\n")
	s.statusIs(7)
	if got, _ := os.ReadFile(s.path("caught")); string(got) != "x\nx\nx\n" {
		t.Errorf("caught %q for three Ctrl-C", got)
	}
	s.leave()
}

func TestCtrlZAndForeground(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("ask", `echo $$ >asked; read answer; echo "answer: $answer"; exit 5`)
	s.typed("$T ./ask\n")
	waitUntil(t, func() bool { text, err := os.ReadFile(s.path("asked")); return err == nil && len(text) > 1 })
	child := pidIn(t, s.path("asked"))
	for range 3 {
		s.typed("\x1a")
		s.sees("Stopped")
		s.prompted()
		waitUntil(t, func() bool { return stateOf(t, child) == "T" }) // it could still read what is typed now
		s.typed("jobs\n")
		s.sees("Stopped .*ask")
		s.fg()
	}
	s.typed("yes\n")
	s.sees("answer: yes\r")
	s.statusIs(5)
	s.leave()
}

// What stops only itself, as "suspend" does, gives the shell its prompt back.
func TestChildThatStopsItself(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("stops", `kill -STOP $$; exit 3`)
	s.typed("$T ./stops\n")
	s.sees("Stopped")
	s.typed("fg\n")
	s.sees("stops\r")
	s.statusIs(3)
	s.leave()
}

func TestPipelineIntoAPager(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.typed("$T seq 500 | " + childEnv + "=pager $T\n")
	s.sees("first line 1\r")
	s.typed("\x1a")
	s.sees("Stopped")
	s.fg()
	s.typed("q\n")
	s.sees(`lines: 500, key "q\\n"`)
	s.statusIs(0)
	s.leave()
}

func TestRealPagers(t *testing.T) {
	t.Parallel()
	for _, pager := range []string{"less", "more"} {
		t.Run(pager, func(t *testing.T) {
			if _, err := exec.LookPath(pager); err != nil {
				t.Skip("not here")
			}
			s := startShell(t)
			unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 80})
			s.typed("export TERM=xterm; $T seq 1000 1999 | " + pager + "\n")
			s.sees("1005")
			if pager == "less" {
				s.typed("\x03") // less goes on, and drops what was typed before it saw that
				waitUntil(t, func() bool {
					s.typed("G")
					time.Sleep(20 * time.Millisecond)
					s.mu.Lock()
					defer s.mu.Unlock()
					return bytes.Contains(s.screen.Bytes()[s.seen:], []byte("1999"))
				})
			}
			s.typed("q")
			s.ready()
			s.leave()
		})
	}
}

func TestBackgroundJob(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.typed("$T @idle one never 0 &\n")
	s.await("one")
	s.typed("jobs\n")
	s.sees("Running .*idle")
	s.typed("kill %1; wait %1\n")
	s.statusIs(143)
	s.typed("$T @idle two never 0 &\n")
	s.await("two")
	s.typed("kill -TERM $!; wait $!\n") // the tool alone
	s.statusIs(143)
	s.typed("$T @idle three never 0 &\n")
	s.await("three")
	s.typed("kill -INT $!; wait $!\n")
	s.statusIs(130)
	s.leave()
}

// A job in the background that reads the terminal is stopped, as any is.
func TestBackgroundJobThatReads(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("ask", `read answer; echo "answer: $answer"; exit 5`)
	s.typed("$T ./ask &\n")
	waitUntil(t, func() bool { // the shell tells of it before its next prompt
		s.typed("jobs\n")
		time.Sleep(50 * time.Millisecond)
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.screen.Bytes(), []byte("Stopped"))
	})
	s.ready()
	s.fg()
	s.typed("late\n")
	s.sees("answer: late\r")
	s.statusIs(5)
	s.leave()
}

// TERM, HUP and USR1 reach the child once, though it is in the tool's group; a new
// size of the terminal comes from the kernel.
func TestSignalsToUsAtATerminal(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("count", `for s in TERM HUP USR1 WINCH; do trap "echo $s >>got" $s; done; : >ready; echo $PPID >pid
		until [ -e go ]; do sleep 0.02; done; exit 8`)
	s.typed("$T ./count\n")
	s.await("ready")
	tool := pidIn(t, s.path("pid"))
	for n, want := range []struct {
		name string
		send func() error
	}{
		{"TERM", func() error { return syscall.Kill(tool, syscall.SIGTERM) }},
		{"HUP", func() error { return syscall.Kill(tool, syscall.SIGHUP) }},
		{"USR1", func() error { return syscall.Kill(tool, syscall.SIGUSR1) }},
		{"WINCH", func() error {
			return unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 11, Col: 71})
		}},
	} {
		if err := want.send(); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, func() bool {
			got, _ := os.ReadFile(s.path("got"))
			return strings.Count(string(got), "\n") > n
		})
	}
	time.Sleep(50 * time.Millisecond)
	if got, _ := os.ReadFile(s.path("got")); string(got) != "TERM\nHUP\nUSR1\nWINCH\n" {
		t.Errorf("the child got %q", got)
	}
	if err := os.WriteFile(s.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.statusIs(8)
	s.leave()
}

// An attempt that takes too long is ended with all that it started, though it
// is in the tool's group, and the tool is not ended with it.
func TestTimeLimitAtATerminal(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("tree", `trap '' TERM; sleep 61 & setsid sleep 62 & sh -c 'sleep 63; :' & sleep 64`)
	s.typed("TOOL_TIMEOUT=300ms $T ./tree\n")
	s.statusIs(137)
	s.leave()
}

// A shell in a shell has its own job control, and gives the terminal back.
func TestInteractiveShellAsTheCommand(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.typed("$T bash --norc --noprofile --noediting -i\n")
	s.typed("echo inner >inner\n")
	s.await("inner")
	inner := s.foreground()
	s.typed(childEnv + "=idle $T one never 0\n")
	s.await("one")
	s.typed("\x03")
	s.typed(childEnv + "=idle $T two never 0\n")
	s.await("two")
	s.typed("\x1a")
	s.sees("Stopped")
	s.fg()
	s.typed("\x03")
	waitUntil(t, func() bool { return s.foreground() == inner })
	s.typed("exit 6\n")
	s.statusIs(6)
	s.leave()
}

func TestOtherDevicesAreNoTerminals(t *testing.T) {
	f, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := newStdin(t, f); s.kind != handedOn {
		t.Errorf("kind %d", s.kind)
	}
}

// Which group a child is in is decided by the controlling terminal.
func TestGroupAtATerminal(t *testing.T) {
	t.Parallel()
	s := startShell(t)
	s.program("group", `ps -o pgid= -p $$ >child; ps -o pgid= -p $PPID >tool`)
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("no ps here")
	}
	s.typed("$T ./group </dev/null\n")
	s.statusIs(0)
	child, tool := pidIn(t, filepath.Join(s.dir, "child")), pidIn(t, filepath.Join(s.dir, "tool"))
	if child != tool {
		t.Errorf("the child is in group %d, the tool in %d", child, tool)
	}
	s.leave()
}
