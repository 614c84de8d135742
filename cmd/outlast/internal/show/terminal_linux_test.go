package show

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"outlast/internal/progress"
)

// patience is how long the tests wait for another process (a choice: a slow
// machine must not fail them).
const patience = 30 * time.Second

// terminal is a pseudo-terminal, and a screen for what arrives on it.
type terminal struct {
	t      *testing.T
	master *os.File
	tty    *os.File
	screen *screen
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: os.NewFile(uintptr(fd), "master"), tty: tty, screen: newScreen(80, 24)}
	term.resize(80)
	go io.Copy(term.screen, term.master)
	t.Cleanup(func() { tty.Close(); term.master.Close() })
	return term
}

func (term *terminal) resize(columns uint16) {
	if err := unix.IoctlSetWinsize(int(term.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		term.t.Fatal(err)
	}
}

// shows waits until the screen shows what is right.
func (term *terminal) shows(what string, right func(string) bool) {
	term.t.Helper()
	for began := time.Now(); !right(term.screen.text()); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			term.t.Fatalf("%s: %q", what, term.screen.text())
		}
	}
}

func is(want string) func(string) bool { return func(got string) bool { return got == want } }

func starts(want string) func(string) bool {
	return func(got string) bool { return strings.HasPrefix(got, want) }
}

func TestARealTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	term := openTerminal(t)
	p := New(Options{Out: term.tty, Progress: &progress.State{}})
	fmt.Fprint(p.Writer(term.tty), "the command's\nunfinished")
	p.see(waiting(2, time.Hour, 2*time.Hour))
	term.shows("the line", is("the command's\nunfinished\noutlast: unavailable for 0 s of 7200 s; attempt 2 in 3600 s"))
	fmt.Fprint(p.Writer(term.tty), " no more\n")
	p.see(waiting(3, time.Hour, 2*time.Hour))
	term.shows("the line", is("the command's\nunfinished no more\noutlast: unavailable for 0 s of 7200 s; attempt 3 in 3600 s"))

	term.resize(30)
	syscall.Kill(os.Getpid(), syscall.SIGWINCH) // it is not the controlling terminal
	term.shows("a narrow line", is("the command's\nunfinished no more\noutlast: unavailable for 0 s"))
	p.Close()
	term.shows("the command's output alone", is("the command's\nunfinished no more"))
}

func TestLogLinesOnATerminal(t *testing.T) {
	for _, c := range []struct {
		term   string
		format Format
	}{{"dumb", Auto}, {"", Auto}, {"xterm", Text}} {
		t.Setenv("TERM", c.term)
		term := openTerminal(t)
		p := New(Options{Out: term.tty, Format: c.format, Progress: &progress.State{}})
		p.see(waiting(2, time.Hour, 150*time.Second))
		p.Close()
		term.shows("a log line", is("outlast: unavailable; attempt 2 in 3600 s, and at most 150 s of waiting left"))
	}
}

// A user who has stopped the terminal with Ctrl-S holds up nothing.
func TestAStoppedTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	term := openTerminal(t)
	p := New(Options{Out: term.tty, Progress: &progress.State{}})
	if err := unix.IoctlSetInt(int(term.tty.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		p.see(waiting(2, time.Hour, 2*time.Hour))
		p.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("it waits for the user")
	}
	if err := unix.IoctlSetInt(int(term.tty.Fd()), unix.TCXONC, unix.TCOON); err != nil {
		t.Fatal(err)
	}
	<-done
}

// As a shell does, the leader of a session starts a job in the foreground, and
// tells when it stops and how it ended. A line on its standard input lets the
// job go on, in the foreground or in the background.
func leader() {
	signal.Ignore(syscall.SIGTTOU) // as shells do
	job := exec.Command("/proc/self/exe")
	job.Env = append(os.Environ(), "SHOW_TEST=job")
	job.Stderr = os.Stderr
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 2}
	if err := job.Start(); err != nil {
		panic(err)
	}
	input := bufio.NewReader(os.Stdin)
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(job.Process.Pid, &status, unix.WUNTRACED, nil); err != nil {
			panic(err)
		}
		if !status.Stopped() {
			fmt.Printf("ended %d\n", status)
			return
		}
		unix.IoctlSetPointerInt(2, unix.TIOCSPGRP, unix.Getpgrp())
		fmt.Printf("stopped by %d\n", int(status.StopSignal()))
		if where, _ := input.ReadString('\n'); where == "fg\n" {
			unix.IoctlSetPointerInt(2, unix.TIOCSPGRP, job.Process.Pid)
		}
		unix.Kill(-job.Process.Pid, unix.SIGCONT)
	}
}

// job waits, for as long as the test that started it lives.
func job() {
	time.AfterFunc(2*patience, func() { os.Exit(3) })
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	more := make(chan os.Signal, 1)
	signal.Notify(more, syscall.SIGUSR1)
	p := New(Options{Out: os.Stderr, Progress: &progress.State{}})
	for n := int64(2); ; n++ {
		p.see(waiting(n, time.Hour, 2*time.Hour))
		select {
		case <-more:
		case <-end:
			p.Close()
			os.Exit(0)
		}
	}
}

func TestMain(m *testing.M) {
	switch os.Getenv("SHOW_TEST") {
	case "leader":
		leader()
	case "job":
		job()
	default:
		os.Exit(m.Run())
	}
}

// Ctrl-Z takes the line away before the shell has the terminal; in the
// background there is none; back in the foreground it is there again.
func TestJobControl(t *testing.T) {
	term := openTerminal(t)
	shell := exec.Command("/proc/self/exe")
	shell.Env = append(os.Environ(), "SHOW_TEST=leader", "TERM=xterm")
	shell.Stderr = term.tty
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	control, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shell.Process.Kill(); shell.Wait() }) // the terminal hangs up on the job
	reports := bufio.NewScanner(stdout)
	next := func(want string) {
		t.Helper()
		if !reports.Scan() || reports.Text() != want {
			t.Fatalf("%q, and not %q", reports.Text(), want)
		}
	}
	line := starts("outlast: unavailable for")
	group := func() int {
		pid, err := unix.IoctlGetInt(int(term.master.Fd()), unix.TIOCGPGRP)
		if err != nil {
			t.Fatal(err)
		}
		return int(int32(pid))
	}

	term.shows("the line", line)
	jobs := group()
	stopped := fmt.Sprintf("stopped by %d", int(unix.SIGTTIN))
	for range 2 {
		term.master.WriteString("\x1a")
		next(stopped)
		term.shows("the row, empty but for what the terminal echoes", func(s string) bool { return strings.Trim(s, "^Z\n") == "" })
		fmt.Fprintln(control, "fg")
		term.shows("the line again", func(s string) bool { return strings.Contains(s, "outlast: unavailable for") })
	}

	term.master.WriteString("\x1a")
	next(stopped)
	fmt.Fprintln(control, "bg")
	unix.Kill(jobs, unix.SIGUSR1) // the next wait
	logged := "outlast: unavailable; attempt 3 in 3600 s, and at most 7200 s of waiting left"
	term.shows("a log line", func(s string) bool { return strings.Trim(s, "^Z\n") == logged })
	unix.Kill(jobs, unix.SIGTERM)
	next("ended 0")
	term.shows("no line", func(s string) bool { return strings.Trim(s, "^Z\n") == logged })
}
