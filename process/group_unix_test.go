//go:build unix

package process

import (
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Without a controlling terminal; what is with one needs one, and a shell.
func TestChildLeadsItsGroup(t *testing.T) {
	if hasTerminal() {
		t.Skip("the tests have a controlling terminal")
	}
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

func TestRestSeesWhatTheProcessHasStarted(t *testing.T) {
	dir := t.TempDir()
	c := command(t, "family", filepath.Join(dir, "child"), filepath.Join(dir, "parent"))
	p, err := c.start()
	if err != nil {
		t.Fatal(err)
	}
	pidIn(t, c.Argv[2])
	if len(p.rest()) == 0 {
		t.Error("a child's child is not seen")
	}
	p.stop(syscall.SIGKILL, DefaultKillAfter)
	if left := p.rest(); len(left) > 0 {
		t.Errorf("the dead are seen: %v", left)
	}
	p.settle(t.Context(), byItself, &Command{})
}
