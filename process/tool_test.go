//go:build unix

package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"outlast/process/quit"
)

// The tool of these tests is a process that uses the package as a command-line
// tool does: it runs a command again while that fails, and then ends as the
// command did. Its options are in its environment:
const (
	attemptsEnv  = "TOOL_ATTEMPTS"   // how often it runs the command; by default once
	waitEnv      = "TOOL_WAIT"       // between attempts
	killAfterEnv = "TOOL_KILL_AFTER" // the relay's
	timeoutEnv   = "TOOL_TIMEOUT"    // of an attempt, which is killed 300 ms later
	waitingEnv   = "TOOL_WAITING"    // a file that it makes when it waits
	peakEnv      = "TOOL_PEAK"       // a file for the most memory it had
	tokenEnv     = "TOOL_TOKEN"      // by which all that it started is found
)

func init() {
	children["tool"] = func(args []string) {
		quit.Quietly()
		relay, ctx := NewRelay(context.Background(), RelayOptions{
			KillAfter: duration(killAfterEnv),
			Refused:   func(err error) { fmt.Fprintln(os.Stderr, err) },
		})
		_ = BecomeSubreaper()
		last, err := callAsTool(ctx, relay, args)
		if err != nil {
			fmt.Fprintln(os.Stderr, "tool:", err)
		}
		code := relay.ExitCode(last)
		if last != nil {
			if err := relay.Commit(last); err != nil {
				fmt.Fprintln(os.Stderr, "tool:", err)
				code = cmp.Or(code, 1)
			}
		}
		if err != nil {
			code = cmp.Or(code, 96)
		}
		notePeak(os.Getenv(peakEnv))
		if by := relay.EndsBy(last); by != 0 && code == 128+int(by) {
			EndBy(by)
		}
		os.Exit(code)
	}
}

func callAsTool(ctx context.Context, relay *Relay, argv []string) (last *Ended, err error) {
	c := toolsCommand(argv)
	c.Relay = relay
	if c.Stdin, err = NewStdin(os.Stdin, Replay); err != nil {
		return nil, err
	}
	defer c.Stdin.Close()
	for n := range max(1, number(cmp.Or(os.Getenv(attemptsEnv), "1"))) {
		if n > 0 {
			if file := os.Getenv(waitingEnv); file != "" {
				must(os.WriteFile(file, nil, 0o600))
			}
			select {
			case <-time.After(duration(waitEnv)):
			case <-ctx.Done():
			}
		}
		ended, err := c.Attempt(ctx)
		if err != nil {
			if ended != nil {
				return ended, err
			}
			if ctx.Err() != nil {
				err = nil
			}
			return last, err
		}
		if last != nil {
			last.Discard()
		}
		last = ended
		if ended.Result.OK() {
			break
		}
	}
	return last, nil
}

// toolsCommand runs argv, or, where that begins with @, one of the children.
func toolsCommand(argv []string) *Command {
	c := &Command{
		Argv: argv, Stdout: os.Stdout, Stderr: os.Stderr,
		Timeout: duration(timeoutEnv), KillAfter: 300 * time.Millisecond,
	}
	if role, ok := strings.CutPrefix(argv[0], "@"); ok {
		self, err := os.Executable()
		must(err)
		c.Argv = append([]string{self}, argv[1:]...)
		c.Env = append(os.Environ(), childEnv+"="+role)
	}
	return c
}

func duration(env string) time.Duration {
	text := os.Getenv(env)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	must(err)
	return d
}

// toolRun is the tool while it runs.
type toolRun struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	dir, token     string
}

// newTool is the tool in a session of its own, so without a terminal, with a
// TMPDIR of its own.
func newTool(t *testing.T, options map[string]string, argv ...string) *toolRun {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &toolRun{t: t, dir: t.TempDir(), token: rand.Text()}
	r.cmd = exec.Command(self, argv...)
	r.cmd.Env = append(os.Environ(), childEnv+"=tool", "GORACE=atexit_sleep_ms=0",
		tokenEnv+"="+r.token, "TMPDIR="+r.tmp())
	for name, value := range options {
		r.cmd.Env = append(r.cmd.Env, name+"="+value)
	}
	if err := os.Mkdir(r.tmp(), 0o777); err != nil {
		t.Fatal(err)
	}
	r.cmd.Dir = r.dir
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return r
}

func startTool(t *testing.T, options map[string]string, argv ...string) *toolRun {
	t.Helper()
	r := newTool(t, options, argv...)
	r.start()
	return r
}

func (r *toolRun) start() {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
}

func (r *toolRun) tmp() string { return filepath.Join(r.dir, "tmp") }

func (r *toolRun) path(name string) string { return filepath.Join(r.dir, name) }

// await waits for a file in the tool's directory.
func (r *toolRun) await(name string) {
	r.t.Helper()
	waitUntil(r.t, func() bool { _, err := os.Stat(r.path(name)); return err == nil })
}

func (r *toolRun) has(name string) bool {
	_, err := os.Stat(r.path(name))
	return err == nil
}

func (r *toolRun) send(signals ...syscall.Signal) {
	r.t.Helper()
	for _, s := range signals {
		if err := r.cmd.Process.Signal(s); err != nil {
			r.t.Fatal(err)
		}
	}
}

// status is the tool's, as a shell gives it, once it has ended and left nothing
// behind.
func (r *toolRun) status() int {
	r.t.Helper()
	r.wait()
	r.nothingIsLeft()
	return shellStatus(r.cmd.ProcessState)
}

func shellStatus(state *os.ProcessState) int {
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func (r *toolRun) wait() {
	r.t.Helper()
	over := make(chan struct{})
	go func() { _ = r.cmd.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Minute):
		_ = r.cmd.Process.Kill()
		r.t.Fatalf("the tool hangs; stdout %q, stderr %q", &r.stdout, &r.stderr)
	}
}

func (r *toolRun) nothingIsLeft() {
	r.t.Helper()
	waitUntil(r.t, func() bool { return len(withToken(r.token)) == 0 })
	if names, err := os.ReadDir(r.tmp()); err != nil || len(names) > 0 {
		r.t.Errorf("temporary files: %v, %v", names, err)
	}
}

// withToken is the processes that run with this in their environment; none on
// systems that do not show it.
func withToken(token string) (pids []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(token)) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// notePeak writes down the most memory that this process had, in KiB.
func notePeak(file string) {
	if file == "" {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(strings.TrimSpace(peak), " ")
	must(os.WriteFile(file, []byte(peak), 0o600))
}
