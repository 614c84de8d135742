package subprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// In a group of its own, the child would be stopped when it reads the terminal.
func TestWithATerminalTheChildStaysInOurGroup(t *testing.T) {
	master, tty := openTerminal(t)
	s := newStdin(t, tty)
	c := command(t, "group")
	c.Stdin = s
	_, stdout, _ := attempt(t, c)
	var pgid, pid int
	if _, err := fmt.Sscan(stdout, &pgid, &pid); err != nil || pgid != syscall.Getpgrp() {
		t.Errorf("group and pid %q, ours is %d", stdout, syscall.Getpgrp())
	}
	for range 2 {
		fmt.Fprintln(master, "typed")
		if got := cat(t, s, "6", "0"); got != "typed\n" {
			t.Errorf("read %q", got)
		}
	}

	c = command(t, "sit", filepath.Join(t.TempDir(), "pid"))
	c.Stdin, c.KillAfter = s, 100*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	go func() { waitForFile(c.Argv[1]); cancel() }()
	e, err := c.Attempt(ctx) // we are in that group, and shall not be signalled
	if err != nil || e.Result.Signal != "SIGKILL" {
		t.Errorf("%v, %+v", err, e)
	}
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
