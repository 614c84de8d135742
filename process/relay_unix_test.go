//go:build unix

package process

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

var endings = map[string]syscall.Signal{
	"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT,
}

// retried is what all tests of a signal have: a second attempt would follow.
var retried = map[string]string{attemptsEnv: "3", waitEnv: "5ms"}

func with(options ...string) map[string]string {
	all := map[string]string{}
	for k, v := range retried {
		all[k] = v
	}
	for i := 0; i < len(options); i += 2 {
		all[options[i]] = options[i+1]
	}
	return all
}

func TestSignalInAnAttemptEndsItAsWithoutUs(t *testing.T) {
	for name, s := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startTool(t, retried, "@idle", "ready", "never", "0")
			r.await("ready")
			r.send(s)
			want := 128 + int(s)
			if s == syscall.SIGQUIT {
				want = 2 // a Go program, which the child is, prints its goroutines
			}
			if got := r.status(); got != want || r.stdout.String() != "idle\n" {
				t.Errorf("status %d, stdout %q", got, &r.stdout)
			}
		})
	}
}

func TestSignalInAWaitEndsItAtOnce(t *testing.T) {
	for name, s := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTool(t, with(waitEnv, "1h"), "sh", "-c", "echo run >>runs; echo failed >&2; exit 75")
			r.cmd.Env = append(r.cmd.Env, waitingEnv+"="+r.path("waiting"))
			r.start()
			r.await("waiting")
			r.send(syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH) // do nothing
			r.send(s)
			if got := r.status(); got != 128+int(s) || r.stderr.String() != "failed\n" {
				t.Errorf("status %d, stderr %q", got, &r.stderr)
			}
		})
	}
}

// A child that handles a signal goes on, and its own end is the end; but it is
// not run again.
func TestChildThatHandlesASignalGoesOn(t *testing.T) {
	for name, s := range endings {
		for _, code := range []string{"0", "7"} {
			t.Run(name+" "+code, func(t *testing.T) {
				t.Parallel()
				r := startTool(t, retried, "sh", "-c", `trap 'echo got; : >got' `+name+`; echo run >>runs; : >ready
					until [ -e go ]; do sleep 0.02; done; exit `+code)
				r.await("ready")
				r.send(s)
				r.await("got")
				time.Sleep(50 * time.Millisecond) // it is not killed meanwhile
				if err := os.WriteFile(r.path("go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if got := r.status(); itoa(got) != code || r.stdout.String() != "got\n" {
					t.Errorf("status %d, stdout %q", got, &r.stdout)
				}
				if runs, _ := os.ReadFile(r.path("runs")); string(runs) != "run\n" {
					t.Errorf("runs: %q", runs)
				}
			})
		}
	}
}

func TestEverySignalIsPassedOnEachTime(t *testing.T) {
	for _, signals := range [][2]string{{"TERM", "TERM"}, {"INT", "TERM"}, {"HUP", "HUP"}, {"USR1", "USR2"}, {"USR1", "USR1"}, {"WINCH", "QUIT"}} {
		t.Run(signals[0]+" "+signals[1], func(t *testing.T) {
			t.Parallel()
			numbers := map[string]syscall.Signal{"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH}
			for name, s := range endings {
				numbers[name] = s
			}
			r := startTool(t, nil, "sh", "-c", `n=0; trap 'n=$((n+1)); : >got' INT TERM HUP QUIT USR1 USR2 WINCH; : >ready
				while [ $n -lt 2 ]; do sleep 0.02; done; exit 9`)
			r.await("ready")
			r.send(numbers[signals[0]])
			r.await("got")
			r.send(numbers[signals[1]])
			if got := r.status(); got != 9 {
				t.Errorf("status %d", got)
			}
		})
	}
}

func TestSignalReachesTheWholeGroup(t *testing.T) {
	t.Parallel()
	r := startTool(t, nil, "sh", "-c", `sh -c 'trap "echo inner" TERM; : >ready; sleep 60 & wait'; echo outer`)
	r.await("ready")
	r.send(syscall.SIGTERM)
	if got := r.status(); got != 128+15 || r.stdout.String() != "inner\n" {
		t.Errorf("status %d, stdout %q", got, &r.stdout)
	}
}

func TestKillAfterASignal(t *testing.T) {
	t.Parallel()
	r := startTool(t, with(killAfterEnv, "200ms"), "sh", "-c",
		`trap '' TERM; setsid sh -c 'trap "" TERM; : >ready; while :; do sleep 0.05; done' & while :; do sleep 0.05; done`)
	r.await("ready")
	r.send(syscall.SIGTERM)
	if got := r.status(); got != 128+9 {
		t.Errorf("status %d", got)
	}
}

func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HUP", "INT"} {
		r := newTool(t, retried)
		tool := r.cmd.Args[0]
		r.cmd.Path, r.cmd.Args = "/bin/sh", []string{"sh", "-c", "trap '' " + name + `; exec "$0" "$@"`, tool,
			"sh", "-c", `: >ready; until [ -e go ]; do sleep 0.02; done; echo ended`}
		r.start()
		r.await("ready")
		r.send(endings[name])
		if name == "INT" {
			r.send(syscall.SIGQUIT)
		}
		time.Sleep(50 * time.Millisecond)
		if err := os.WriteFile(r.path("go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.status(); got != 0 || r.stdout.String() != "ended\n" {
			t.Errorf("%s: status %d, stdout %q", name, got, &r.stdout)
		}
	}
}

// stateOf is a process's state as ps gives it: S, T, Z and others.
func stateOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if _, missing := os.Stat("/proc/self/stat"); missing != nil {
		t.Skip("no /proc here")
	}
	if err != nil {
		return "" // it is gone
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
}

func TestStopAndContinueWithoutATerminal(t *testing.T) {
	t.Parallel()
	r := startTool(t, nil, "@idle", "pid", "go", "4")
	child := pidIn(t, r.path("pid"))
	for range 3 {
		r.send(syscall.SIGTSTP)
		waitUntil(t, func() bool { return stateOf(t, child) == "T" && stateOf(t, r.cmd.Process.Pid) == "T" })
		r.send(syscall.SIGCONT)
		waitUntil(t, func() bool { return stateOf(t, child) != "T" && stateOf(t, r.cmd.Process.Pid) != "T" })
	}
	if err := os.WriteFile(r.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.status(); got != 4 {
		t.Errorf("status %d", got)
	}
}

func TestStopAndContinueInAWait(t *testing.T) {
	t.Parallel()
	r := newTool(t, map[string]string{attemptsEnv: "2", waitEnv: "500ms"}, "sh", "-c", `[ -e once ] || { : >once; exit 1; }; echo second`)
	r.cmd.Env = append(r.cmd.Env, waitingEnv+"="+r.path("waiting"))
	r.start()
	r.await("waiting")
	r.send(syscall.SIGTSTP)
	waitUntil(t, func() bool { return stateOf(t, r.cmd.Process.Pid) == "T" })
	r.send(syscall.SIGCONT)
	if got := r.status(); got != 0 || r.stdout.String() != "second\n" {
		t.Errorf("status %d, stdout %q", got, &r.stdout)
	}
}

func TestChildThatIsKilledOrLosesItsReader(t *testing.T) {
	for _, name := range []string{"KILL", "PIPE", "SEGV"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startTool(t, nil, "sh", "-c", "echo last words; kill -"+name+" $$")
			want := map[string]int{"KILL": 137, "PIPE": 141, "SEGV": 139}[name]
			if got := r.status(); got != want || r.stdout.String() != "last words\n" {
				t.Errorf("status %d, stdout %q", got, &r.stdout)
			}
		})
	}
}

// A stopped child is ended by its time limit, though it sees no signal while it
// is stopped.
func TestStoppedChildIsEnded(t *testing.T) {
	t.Parallel()
	r := startTool(t, map[string]string{timeoutEnv: "200ms"}, "sh", "-c", `trap 'echo bye; exit 3' TERM; kill -STOP $$; sleep 60`)
	if got := r.status(); got != 3 || r.stdout.String() != "bye\n" {
		t.Errorf("status %d, stdout %q", got, &r.stdout)
	}
}

// The reader of the output takes nothing, and two signals ask the tool to end.
func TestSecondSignalDoesNotWaitForTheReader(t *testing.T) {
	for name, s := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			r := newTool(t, nil, "@progress", "150000", "ready") // more than is held and the reader's pipe holds
			r.cmd.Stdout = write
			r.start()
			write.Close()
			r.await("ready") // and so the command ends
			time.Sleep(50 * time.Millisecond)
			r.send(s)
			time.Sleep(50 * time.Millisecond)
			r.cmd.Process.Signal(s) // it may have ended
			if got := r.status(); got != 0 && got != 128+int(s) {
				t.Errorf("status %d, stderr %q", got, &r.stderr)
			}
		})
	}
}

// What a child says when it is asked to end is shown, however late it is read.
func TestLastWordsAfterASignalAreShown(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	r := newTool(t, nil, "sh", "-c", `trap 'echo the end; exit 6' TERM; head -c 300000 /dev/zero; : >ready; sleep 60 & wait`)
	r.cmd.Stdout = write
	r.start()
	write.Close()
	buf := make([]byte, 300000-65536) // the pipe keeps the rest
	for n := 0; n < len(buf); {
		got, err := read.Read(buf[n:])
		if n += got; err != nil {
			t.Fatal(err)
		}
	}
	r.await("ready")
	r.send(syscall.SIGTERM)
	time.Sleep(3 * leftoverWait)
	var rest strings.Builder
	for {
		n, err := read.Read(buf)
		rest.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if got := r.status(); got != 6 || !strings.HasSuffix(rest.String(), "\x00the end\n") || rest.Len() != 65536+8 {
		t.Errorf("status %d, %d bytes, ending in %q", got, rest.Len(), rest.String()[max(0, rest.Len()-20):])
	}
}

// The relay in this process: what it says does not depend on a real signal.
func TestRelayWithoutAnAttempt(t *testing.T) {
	r, ctx := NewRelay(t.Context(), RelayOptions{})
	defer r.Stop()
	if r.Signal() != 0 || r.ExitCode(nil) != 0 || r.EndsBy(nil) != 0 {
		t.Error("a signal that did not come")
	}
	r.handle(syscall.SIGUSR1)
	if ctx.Err() != nil {
		t.Error("SIGUSR1 ends the wait")
	}
	r.handle(syscall.SIGHUP)
	<-ctx.Done()
	if r.Signal() != syscall.SIGHUP || r.ExitCode(nil) != 129 || r.EndsBy(nil) != syscall.SIGHUP {
		t.Errorf("signal %v, code %d", r.Signal(), r.ExitCode(nil))
	}
	c := command(t, "say", "", "", "0")
	c.Relay = r
	var i Interrupt
	if _, err := c.Attempt(t.Context()); !errors.As(err, &i) || i.Signal != syscall.SIGHUP {
		t.Errorf("a further attempt: %v", err)
	}
}

// A signal that comes while the process is started is passed on once it runs.
func TestSignalBeforeTheProcessRuns(t *testing.T) {
	r, ctx := NewRelay(t.Context(), RelayOptions{})
	defer r.Stop()
	if err := r.enter(); err != nil {
		t.Fatal(err)
	}
	r.handle(syscall.SIGTERM)
	p, err := command(t, "wait", t.TempDir()+"/never", "").start()
	if err != nil {
		t.Fatal(err)
	}
	r.attach(p)
	if why := p.await(ctx, 0, DefaultKillAfter); why != byItself {
		t.Errorf("reason %d", why)
	}
	p.settle(ctx, byItself, &Command{})
	if _, signal, err := p.end(); err != nil || signal != "SIGTERM" {
		t.Errorf("ended by %q, %v", signal, err)
	}
	r.leave()
	<-ctx.Done()
}

func BenchmarkNewRelay(b *testing.B) {
	for b.Loop() {
		r, _ := NewRelay(b.Context(), RelayOptions{})
		r.Stop()
	}
}

// A child may stop itself before the relay knows that it runs.
func TestChildThatStopsEarlyIsSeen(t *testing.T) {
	r := &Relay{caught: make(chan struct{})}
	close(r.caught)
	if err := r.enter(); err != nil {
		t.Fatal(err)
	}
	r.handle(syscall.SIGCHLD)
	if !r.changed {
		t.Error("a change before the process is known is forgotten")
	}
	r.leave()
	if r.changed {
		t.Error("an attempt takes over the last one's change")
	}
}

// Whether a signal reached the last attempt, and how that ended, gives the exit
// code. Another attempt, such as a repair's, does not count as the last one.
func TestExitCodeAfterASignal(t *testing.T) {
	ended := func(code int64, signal string, heard bool) *Ended {
		e := &Ended{heard: heard}
		if e.Result.Signal = signal; signal == "" {
			e.Result.ExitCode = &code
		}
		return e
	}
	for _, c := range []struct {
		name  string
		first syscall.Signal
		last  *Ended
		code  int
		by    syscall.Signal
	}{
		{"nothing came", 0, ended(7, "", false), 7, 0},
		{"nothing ran", syscall.SIGTERM, nil, 143, syscall.SIGTERM},
		{"nothing ran, Ctrl-C", syscall.SIGINT, nil, 130, syscall.SIGINT},
		{"in the wait", syscall.SIGHUP, ended(7, "", false), 129, syscall.SIGHUP},
		{"Ctrl-C in the wait", syscall.SIGINT, ended(7, "", false), 130, syscall.SIGINT},
		{"after a success", syscall.SIGINT, ended(0, "", false), 0, 0},
		{"handled", syscall.SIGTERM, ended(3, "", true), 3, 0},
		{"handled well", syscall.SIGTERM, ended(0, "", true), 0, 0},
		{"it ended by that", syscall.SIGTERM, ended(0, "SIGTERM", true), 143, syscall.SIGTERM},
		{"Ctrl-C ended it", syscall.SIGINT, ended(0, "SIGINT", true), 130, syscall.SIGINT},
		{"Ctrl-C handled", syscall.SIGINT, ended(130, "", true), 130, 0},
		{"killed after Ctrl-C", syscall.SIGINT, ended(0, "SIGKILL", true), 137, 0},
		{"kill -INT ended it", syscall.SIGINT, ended(0, "SIGINT", true), 130, syscall.SIGINT},
	} {
		r := &Relay{first: c.first}
		if got := r.ExitCode(c.last); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.code)
		}
		if got := r.EndsBy(c.last); got != c.by {
			t.Errorf("%s: ends by %v", c.name, got)
		}
	}
}
