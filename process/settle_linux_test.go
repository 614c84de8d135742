package process

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"outlast/process/procfs"
)

// How many were ended is known, and none is where nobody held the output for
// longer than it printed.
func TestHoldersThatWereEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		ended  int
	}{
		"none":    {`echo said`, 0},
		"a short": {`sleep 0.05 & echo said`, 0},
		"one":     {`sleep 60 & echo said`, 1},
		"two":     {`sleep 60 & sleep 61 >/dev/null & echo said`, 2},
		"deaf":    {`(trap "" TERM; exec sleep 60) & echo said`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			e, stdout, _ := attempt(t, &Command{Argv: []string{"sh", "-c", c.script + "; exit 3"}})
			if e.HoldersEnded != c.ended || e.CutOff || stdout != "said\n" || e.ShellStatus() != 3 {
				t.Errorf("%d ended, want %d; %q, %+v", e.HoldersEnded, c.ended, stdout, e)
			}
			if took := time.Since(begun); took > DefaultKillAfter {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestHoldersHaveAsLongAsIsGiven(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: holderKill, time.Minute: time.Minute, time.Millisecond: time.Millisecond} {
		if got := (&Command{KillAfter: given}).holderKillAfter(); got != want {
			t.Errorf("%v gives %v", given, got)
		}
	}
}

// A holder that is no descendant of the command's cannot be found: what it
// prints later is lost, and that is known.
func TestHolderThatCannotBeFound(t *testing.T) {
	dir := t.TempDir()
	c := &Command{Argv: []string{"sh", "-c", `echo said; echo $$ >pid.new; mv pid.new pid; until [ -e go ]; do sleep 0.02; done; exit 3`}, Dir: dir}
	held := make(chan *os.File, 1)
	go func() {
		waitForFile(filepath.Join(dir, "pid"))
		pid, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pipe, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/1", os.O_WRONLY, 0)
		must(err)
		must(os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
		held <- pipe
	}()
	e, stdout, _ := attempt(t, c)
	(<-held).Close()
	if !e.CutOff || e.HoldersEnded != 0 || stdout != "said\n" || e.ShellStatus() != 3 {
		t.Errorf("cut off %v, %d ended, %q, %+v", e.CutOff, e.HoldersEnded, stdout, e)
	}
}

// A signal that comes while what was left behind is heard ends that at once.
func TestSignalWhileAHolderIsHeard(t *testing.T) {
	t.Parallel()
	r := startTool(t, nil, "sh", "-c", `(until [ -e over ]; do echo more; sleep 0.1; done) & echo $$ >pid.new; mv pid.new pid; exit 3`)
	child := pidIn(t, r.path("pid"))
	waitUntil(t, func() bool { _, runs := procfs.Of(child); return !runs })
	begun := time.Now()
	r.send(syscall.SIGTERM)
	r.wait()
	if got := shellStatus(r.cmd.ProcessState); got != 143 || time.Since(begun) > holderLimit {
		t.Errorf("status %d after %v, stderr %q", got, time.Since(begun), &r.stderr)
	}
	if err := os.WriteFile(r.path("over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.nothingIsLeft()
}
