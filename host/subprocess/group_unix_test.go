//go:build unix

package subprocess

import (
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestChildLeadsItsGroup(t *testing.T) {
	_, stdout, _ := attempt(t, command(t, "group"))
	var pgid, pid int
	if n, err := fmt.Sscan(stdout, &pgid, &pid); n != 2 || err != nil || pgid != pid {
		t.Errorf("group and pid: %q", stdout)
	}
}

func TestSignalNames(t *testing.T) {
	for signal, want := range map[syscall.Signal]string{
		syscall.SIGINT: "SIGINT", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", 200: "SIG200",
	} {
		if got := signalName(signal); got != want {
			t.Errorf("signal %d is %q, want %q", int(signal), got, want)
		}
	}
}

func TestGroupAliveSeesGroups(t *testing.T) {
	if own := syscall.Getpgrp(); !groupAlive(own) {
		t.Error("our own group is not alive")
	}
	file := filepath.Join(t.TempDir(), "pid")
	c := command(t, "sit", file)
	p, err := c.start()
	if err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	if !groupAlive(pid) {
		t.Error("a child's group is not alive")
	}
	p.signal(syscall.SIGKILL)
	<-p.exited
	if groupAlive(pid) {
		t.Error("a dead child's group is alive")
	}
	p.settle(t.Context(), byItself, DefaultKillAfter)
}
