package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal is a pseudo-terminal's two sides.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return master, terminal
}

// shell is an interactive bash at a terminal, in which T runs the tool.
type shell struct {
	*toolRun
	master *os.File
	mu     sync.Mutex
	screen bytes.Buffer
	seen   int // up to where the screen was read
	prompt int
	modes  *unix.Termios
}

func startShell(t *testing.T) *shell {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	master, tty := openTerminal(t)
	r := newTool(t, nil)
	self := r.cmd.Path
	r.cmd.Path, r.cmd.Args = bash, []string{"bash", "--norc", "--noprofile", "--noediting", "-i"}
	r.cmd.Env = append(r.cmd.Env, "PS1=", "PS2=", "T="+self, "HISTFILE=", "TERM=dumb", "LC_ALL=C")
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = tty, tty, tty
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s := &shell{toolRun: r, master: master}
	r.start()
	tty.Close()
	go s.record()
	s.ready()
	if s.modes, err = unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shell) record() {
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.screen.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *shell) typed(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// sees waits for what the pattern matches, after what was seen before.
func (s *shell) sees(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		s.mu.Lock()
		at := re.FindIndex(s.screen.Bytes()[s.seen:])
		if at != nil {
			s.seen += at[1]
		}
		s.mu.Unlock()
		if at != nil {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Fatalf("%s is not seen on:\n%s\n(seen before:)\n%s", pattern, s.screen.Bytes()[s.seen:], s.screen.Bytes()[:s.seen])
}

// foreground is the process group that has the terminal.
func (s *shell) foreground() int {
	group, err := unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCGPGRP)
	if err != nil {
		s.t.Fatal(err)
	}
	return group
}

// fg continues the job that was stopped last, and waits until it runs.
func (s *shell) fg() {
	s.t.Helper()
	shell := s.foreground()
	s.typed("fg\n")
	waitUntil(s.t, func() bool {
		group := s.foreground()
		return group != shell && !isStopped(group)
	})
}

// prompted waits until the shell has the terminal again.
func (s *shell) prompted() {
	s.t.Helper()
	waitUntil(s.t, func() bool { return s.foreground() == s.cmd.Process.Pid })
}

// ready waits until the shell answers: what it echoes of a command is not its
// answer.
func (s *shell) ready() {
	s.t.Helper()
	s.prompted()
	s.prompt++
	s.typed(fmt.Sprintf("echo status=$? ready$((%d+0))\n", s.prompt))
	s.sees(fmt.Sprintf(`status=\d+ ready%d\r`, s.prompt))
}

// statusIs waits for the shell, and asks how the last command ended.
func (s *shell) statusIs(want int) {
	s.t.Helper()
	s.prompted()
	s.prompt++
	s.typed(fmt.Sprintf("echo status=$? ready$((%d+0))\n", s.prompt))
	s.sees(fmt.Sprintf(`status=%d ready%d\r`, want, s.prompt))
}

// leave ends the shell. Nothing is left, and the terminal is as it was.
func (s *shell) leave() {
	s.t.Helper()
	now, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	if *now != *s.modes {
		s.t.Errorf("the terminal's modes were %+v and are %+v", *s.modes, *now)
	}
	s.typed("exit 0\n")
	s.status()
}

// program puts a script into the shell's directory.
func (s *shell) program(name, text string) {
	s.t.Helper()
	syscall.ForkLock.RLock() // a child that is being started keeps it open, and it then cannot be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(s.path(name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		s.t.Fatal(err)
	}
}
