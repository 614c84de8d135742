package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"outlast/process/procfs"
)

// escapes are the ways out of a process group and out of one's parent's sight.
var escapes = map[string]string{
	"in the group":           `sleep 61 &`,
	"setsid":                 `setsid sleep 61 &`,
	"forked twice":           `(sleep 61 &) &`,
	"setsid, forked twice":   `setsid sh -c '(sleep 61 & sleep 62) &' &`,
	"without pipes":          `setsid sh -c '(sleep 61 & sleep 62) &' </dev/null >/dev/null 2>&1 &`,
	"deaf":                   `setsid sh -c 'trap "" TERM HUP; while :; do sleep 0.05; done' &`,
	"stopped":                `setsid sh -c 'kill -STOP $$' &`,
	"one that starts others": `setsid sh -c 'while :; do sleep 0.01; (sleep 5 &); done' &`,
}

// Whatever way a descendant has taken, an attempt that is ended takes it along.
func TestTimeLimitEndsAllDescendants(t *testing.T) {
	for name, script := range escapes {
		for _, parent := range []string{"exec sleep 60", "trap '' TERM; while :; do sleep 0.05; done"} {
			t.Run(name+", "+parent[:4], func(t *testing.T) {
				t.Parallel()
				r := startTool(t, map[string]string{timeoutEnv: "400ms"}, "sh", "-c", script+" : >ready; "+parent)
				r.await("ready")
				want := map[bool]int{true: 143, false: 137}[parent[0] == 'e']
				if got := r.status(); got != want {
					t.Errorf("status %d, stderr %q", got, &r.stderr)
				}
			})
		}
	}
}

// A proper daemon is left alone when the command has ended by itself, and by
// the end of a later attempt.
func TestDaemonIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := startTool(t, map[string]string{timeoutEnv: "700ms", attemptsEnv: "2", waitEnv: "50ms"}, "sh", "-c",
		`[ ! -e daemon ] || exec sleep 60
		(setsid sh -c 'echo $$ >daemon.new; mv daemon.new daemon; exec sleep 60' </dev/null >/dev/null 2>&1 &)
		until [ -e daemon ]; do sleep 0.01; done; exit 1`)
	r.await("daemon")
	daemon := pidIn(t, r.path("daemon"))
	defer syscall.Kill(daemon, syscall.SIGKILL)
	r.wait()
	if got := shellStatus(r.cmd.ProcessState); got != 143 {
		t.Errorf("status %d", got)
	}
	if syscall.Kill(daemon, 0) != nil {
		t.Error("the daemon of the first attempt is gone")
	}
}

// What holds the output after a failed command's end is asked to end, its last words
// are read, and it is killed if it does not.
func TestDescendantThatHoldsTheOutput(t *testing.T) {
	for name, c := range map[string]struct{ script, stdout string }{
		"in the group":       {`sleep 60 & echo said`, "said\n"},
		"out of it":          {`setsid sleep 60 & echo said`, "said\n"},
		"forked twice":       {`(setsid sleep 60 &) & echo said`, "said\n"},
		"only stderr":        {`sleep 60 >/dev/null & echo said`, "said\n"},
		"prints on":          {`(for i in 1 2 3 4 5 6; do sleep 0.3; echo $i; done) & echo said`, "said\n1\n2\n3\n4\n5\n6\n"},
		"soon over":          {`(sleep 0.1; echo late) & echo said`, "said\nlate\n"},
		"with last words":    {`sh -c 'trap "echo bye; exit" TERM; echo up; while :; do sleep 0.02; done' & until [ -e ../x ]; do sleep 0.1; break; done`, "up\nbye\n"},
		"deaf":               {`setsid sh -c 'trap "" TERM; while :; do sleep 0.02; done' & echo said`, "said\n"},
		"writes without end": {`setsid sh -c 'trap "" TERM PIPE; while :; do echo more >&2 || sleep 1; done' & echo said`, "said\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startTool(t, nil, "sh", "-c", c.script+"; exit 3")
			if got := r.status(); got != 3 || r.stdout.String() != c.stdout {
				t.Errorf("status %d, stdout %q", got, &r.stdout)
			}
		})
	}
}

// Orphans that have ended do not stay as zombies, and other children of
// this program are not waited for.
func TestOrphansAreReapedAndNothingElse(t *testing.T) {
	t.Parallel()
	r := startTool(t, nil, "sh", "-c", `for i in 1 2 3 4 5; do (setsid true </dev/null >/dev/null 2>&1 &); done; : >ready; until [ -e go ]; do sleep 0.05; done; exit 4`)
	r.await("ready")
	waitUntil(t, func() bool {
		for _, c := range procfs.All() {
			if c.Parent == r.cmd.Process.Pid && c.State == 'Z' {
				return false
			}
		}
		return true
	})
	if err := os.WriteFile(r.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.status(); got != 4 {
		t.Errorf("status %d", got)
	}
}

func init() {
	// reaper: as a subreaper that starts a child of its own kind, which ends
	children["reaper"] = func([]string) {
		must(BecomeSubreaper())
		ours := exec.Command("sh", "-c", "exit 5")
		must(ours.Start())
		must(exec.Command("sh", "-c", "(true &) & (true &) &").Run())
		for zombies := 0; zombies < 3; { // the child's, and the two orphans
			zombies = 0
			for _, c := range procfs.All() {
				if c.Parent == os.Getpid() && c.State == 'Z' {
					zombies++
				}
			}
			if zombies < 3 {
				time.Sleep(time.Millisecond)
			}
		}
		for left := 2; left > 1; { // there may be more of them
			reapOrphans()
			left = 0
			for _, c := range procfs.All() {
				if c.Parent == os.Getpid() {
					left++
				}
			}
		}
		var exit *exec.ExitError
		if err := ours.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 5 {
			must(errors.Join(errors.New("our own child was reaped by somebody else"), err))
		}
	}
}

func TestReapingStealsNothing(t *testing.T) {
	t.Parallel()
	if e, _, stderr := attempt(t, command(t, "reaper")); *e.Result.ExitCode != 0 {
		t.Error(stderr)
	}
}

// Without being a subreaper, what can be told by its group or its ancestors is
// ended with the attempt.
func TestWithoutASubreaperTheGroupAndTheTreeAreEnded(t *testing.T) {
	dir := t.TempDir()
	c := &Command{
		Argv:      []string{"sh", "-c", `trap '' TERM; setsid sleep 61 & (sleep 62 &) & : >ready; while :; do sleep 0.05; done`},
		Dir:       dir,
		Env:       append(os.Environ(), tokenEnv+"="+dir),
		KillAfter: 100 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { waitForFile(filepath.Join(dir, "ready")); cancel() }()
	e, err := c.Attempt(ctx)
	if err != nil || e.Result.Signal != "SIGKILL" || e.Unended != nil {
		t.Errorf("%v, %+v", err, e)
	}
	if left := withToken(tokenEnv + "=" + dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func init() {
	// root FILE: becomes root for good, and stays
	children["root"] = func(args []string) {
		must(syscall.Setresuid(0, 0, 0))
		writePid(args[0])
		time.Sleep(time.Minute)
	}
}

// nobody runs the tool as another user than root, who can run its children as
// root.
func nobody(t *testing.T, options map[string]string, argv ...string) *toolRun {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can arrange this")
	}
	r := newTool(t, options, argv...)
	for dir := r.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	copyOf(t, r.cmd.Path, r.path("tool"), 0o755)
	copyOf(t, r.cmd.Path, r.path("setuid"), 0o755)
	if err := os.Chmod(r.path("setuid"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	os.Chmod(r.tmp(), 0o777)
	r.cmd.Path = r.path("tool")
	r.cmd.Env = append(r.cmd.Env, "GOTRACEBACK=none")
	r.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	return r
}

func copyOf(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock() // a child that is being started keeps it open, and it then cannot be run
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What has become another user's process cannot be ended: that is said, and
// waited for no longer than what it is given to end.
func TestProcessThatWeMayNotSignal(t *testing.T) {
	t.Parallel()
	r := nobody(t, map[string]string{timeoutEnv: "1s"}, "sh", "-c", `exec env `+childEnv+`=root ./setuid pid`)
	r.start()
	r.await("pid")
	pid := pidIn(t, r.path("pid"))
	r.wait()
	defer syscall.Kill(pid, syscall.SIGKILL)
	if got := shellStatus(r.cmd.ProcessState); got != 1 || !strings.Contains(r.stderr.String(), "may still run") || !strings.Contains(r.stderr.String(), itoa(pid)) {
		t.Errorf("status %d, stderr %q", got, &r.stderr)
	}
	if syscall.Kill(pid, 0) != nil {
		t.Error("it does not run: nothing was tested")
	}
}

// A signal that cannot be passed on is said at once, and the command goes on.
func TestSignalThatIsRefused(t *testing.T) {
	t.Parallel()
	r := nobody(t, nil, "sh", "-c", `exec env `+childEnv+`=root ./setuid pid`)
	stderr, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	r.cmd.Stderr = w
	r.start()
	w.Close()
	r.await("pid")
	pid := pidIn(t, r.path("pid"))
	r.send(syscall.SIGTERM)
	said := make([]byte, 500)
	n, err := stderr.Read(said)
	if err != nil || !bytes.Contains(said[:n], []byte("SIGTERM could not be passed on to process "+itoa(pid))) {
		t.Errorf("%v, %q", err, said[:n])
	}
	syscall.Kill(pid, syscall.SIGKILL)
	if got := r.status(); got != 137 {
		t.Errorf("status %d", got)
	}
}

func BenchmarkBecomeSubreaper(b *testing.B) {
	for b.Loop() {
		_ = BecomeSubreaper() // for the test's own process, which starts no orphans after this
	}
}
