//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// script is a thing that a tool between a command and its user has to get right.
type script struct {
	what string
	try  func(tool) error // nil: right
}

// failTwice fails in its first two attempts, before which it does what is in
// front of it.
const failTwice = `echo >>attempts; test $(wc -l <attempts) -ge 3 || exit 1; `

var scripts = []script{
	{"stdout is the successful attempt's only", output(`echo partial; `+failTwice+`echo result`, 0, "partial\nresult\n")},
	{"stdout is the same byte for byte, if binary", output(failTwice+`printf 'a\377\000b\r\n'`, 0, "a\xff\x00b\r\n")},
	{"if all attempts fail, the last one's stdout is not lost", output(`echo >>attempts; wc -l <attempts | tr -d ' '; exit 7`, 7, "3\n")},
	{"and its stderr is seen", lastError},
	{"the exit code is the command's own", output(`exit 42`, 42, "")},
	{"128 and the signal, if one ended the command", output(`kill -9 $$`, 137, "")},
	{"127 for a command that is not there", notThere},
	{"126 for one that cannot be run", notRunnable},
	{"an attempt has all of stdin, from a pipe", input(pipeInput)},
	{"and from a file", input(fileInput)},
	{"100 MB of stdin from a pipe", bigInput},
	{"a `while read` loop around it loses no line", readLoop},
	{"a line is seen before a long command ends", live},
	{"1 GB of stdout, in at most 64 MiB of memory", bigOutput},
	{"INT ends the command, and the exit code is 130", signalled(syscall.SIGINT, false)},
	{"TERM ends the command, and the exit code is 143", signalled(syscall.SIGTERM, false)},
	{"HUP ends the command, and the exit code is 129", signalled(syscall.SIGHUP, false)},
	{"TERM ends what the command has started, too", signalled(syscall.SIGTERM, true)},
	{"TERM during a wait ends it at once", signalledWaiting},
	{"USR1 reaches the command", userSignal},
	{"a process that is left behind and holds stdout does not hang it", leftBehind},
	{"a reader that goes away ends the command, as in a pipeline", readerGone},
	{"no attempt after the reader has got some of the output", streamedOnce},
}

// output expects an exit code and what is on stdout in the end.
func output(text string, code int, stdout string) func(tool) error {
	return func(t tool) error {
		r, err := prepare(t, text)
		if err != nil {
			return err
		}
		defer r.close()
		return r.expect(code, stdout)
	}
}

func (r *trial) expect(code int, stdout string) error {
	got, err := r.run()
	switch {
	case err != nil:
		return err
	case r.stdout.String() != stdout:
		return fmt.Errorf("it is %q", abbreviated(r.stdout.String()))
	case got != code:
		return fmt.Errorf("exit code %d", got)
	}
	return nil
}

func abbreviated(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%s… (%d bytes)", s[:40], len(s))
	}
	return s
}

func lastError(t tool) error {
	r, err := prepare(t, `echo >>attempts; echo "reason $(wc -l <attempts | tr -d ' ')" >&2; exit 7`)
	if err != nil {
		return err
	}
	defer r.close()
	if _, err := r.run(); err != nil {
		return err
	}
	if !strings.Contains(r.stderr.String(), "reason 3") {
		return fmt.Errorf("it is %q", abbreviated(r.stderr.String()))
	}
	return nil
}

func notThere(t tool) error {
	r, err := prepareArgv(t, "no-such-command-anywhere")
	if err != nil {
		return err
	}
	defer r.close()
	return r.expect(127, "")
}

func notRunnable(t tool) error {
	r, err := prepareArgv(t, "./plain")
	if err != nil {
		return err
	}
	defer r.close()
	if err := os.WriteFile(r.dir+"/plain", []byte("x"), 0o644); err != nil {
		return err
	}
	return r.expect(126, "")
}

const inputLines = "one\ntwo\nthree\n"

func pipeInput(r *trial) error {
	r.cmd.Stdin = strings.NewReader(inputLines) // which exec passes on through a pipe
	return nil
}

func fileInput(r *trial) error {
	if err := os.WriteFile(r.dir+"/in", []byte(inputLines), 0o600); err != nil {
		return err
	}
	file, err := os.Open(r.dir + "/in")
	r.cmd.Stdin = file
	return err
}

func input(give func(*trial) error) func(tool) error {
	return func(t tool) error {
		r, err := prepare(t, `cat >got; `+failTwice+`cat got`)
		if err != nil {
			return err
		}
		defer r.close()
		if err := give(r); err != nil {
			return err
		}
		return r.expect(0, inputLines)
	}
}

func bigInput(t tool) error {
	r, err := prepare(t, `wc -c >got; `+failTwice+`cat got`)
	if err != nil {
		return err
	}
	defer r.close()
	// From another process: the memory of this one would be counted as the
	// tool's, which it is forked from.
	source := exec.Command("head", "-c", "100000000", "/dev/zero")
	if r.cmd.Stdin, err = source.StdoutPipe(); err == nil {
		err = source.Start()
	}
	if err != nil {
		return err
	}
	defer source.Wait()
	return r.expect(0, "100000000\n")
}

// readLoop gives each line to the shell's own read; the command takes none.
func readLoop(t tool) error {
	r, err := prepare(t, `true`)
	if err != nil {
		return err
	}
	defer r.close()
	call := strings.Join(r.cmd.Args[:len(r.cmd.Args)-3], " ")
	loop := exec.Command("sh", "-c", `while read -r line; do `+call+` true && echo "$line"; done`)
	loop.Stdin = strings.NewReader(inputLines)
	out, err := loop.Output()
	if err == nil && string(out) != inputLines {
		err = fmt.Errorf("it saw %q", out)
	}
	return err
}

func live(t tool) error {
	r, err := prepare(t, `echo first; sleep 8; echo last`)
	if err != nil {
		return err
	}
	defer r.close()
	seen := &firstByte{start: time.Now()}
	r.cmd.Stdout = seen
	if _, err := r.run(); err != nil {
		return err
	}
	if seen.after > 6*time.Second {
		return fmt.Errorf("after %v", seen.after.Round(time.Second))
	}
	return nil
}

type firstByte struct {
	start time.Time
	after time.Duration
}

func (f *firstByte) Write(p []byte) (int, error) {
	if f.after == 0 {
		f.after = time.Since(f.start)
	}
	return len(p), nil
}

func bigOutput(t tool) error {
	r, err := prepare(t, `head -c 1000000000 /dev/zero`)
	if err != nil {
		return err
	}
	defer r.close()
	counted := &counter{}
	r.cmd.Stdout = counted
	if code, err := r.run(); err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("exit code %d after %d bytes", code, counted.n))
	}
	// In KiB on Linux, of the tool and what it waited for.
	most := r.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if counted.n != 1_000_000_000 || most > 64<<10 {
		return fmt.Errorf("%d bytes, %d MiB", counted.n, most>>10)
	}
	return nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// signalled sends a signal to the tool alone while the command runs.
func signalled(s syscall.Signal, grandchild bool) func(tool) error {
	text := `echo $$ >pid; echo >>attempts; exec sleep 30`
	if grandchild {
		text = `sleep 30 & echo $! >pid; echo >>attempts; wait`
	}
	return func(t tool) error {
		r, err := prepare(t, text)
		if err != nil {
			return err
		}
		defer r.close()
		code, err := r.signal(s, "pid", 0)
		if err != nil {
			return err
		}
		if pid, _ := r.pid("pid"); alive(pid) {
			return errors.New("the process runs on")
		}
		if r.attempts() > 1 {
			return errors.New("another attempt was made")
		}
		if code != 128+int(s) {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}
}

// signal starts the trial, and sends s when the script has left the file.
func (r *trial) signal(s syscall.Signal, file string, after time.Duration) (int, error) {
	if err := r.cmd.Start(); err != nil {
		return 0, err
	}
	if err := r.await(file); err != nil {
		return 0, err
	}
	time.Sleep(after)
	if err := r.cmd.Process.Signal(s); err != nil {
		return 0, err
	}
	return r.end(r.cmd.Wait())
}

func signalledWaiting(t tool) error {
	r, err := prepare(t, `echo >>attempts; exit 1`)
	if err != nil {
		return err
	}
	defer r.close()
	code, err := r.signal(syscall.SIGTERM, "attempts", 500*time.Millisecond)
	if err != nil {
		return err
	}
	if n := r.attempts(); n > 1 || code != 143 {
		return fmt.Errorf("%d attempts, exit code %d", n, code)
	}
	return nil
}

func userSignal(t tool) error {
	r, err := prepare(t, `trap 'echo got it; exit 0' USR1; echo $$ >pid; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done`)
	if err != nil {
		return err
	}
	defer r.close()
	code, err := r.signal(syscall.SIGUSR1, "pid", 0)
	if err != nil {
		return err
	}
	if code != 0 || r.stdout.String() != "got it\n" {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
}

func leftBehind(t tool) error {
	r, err := prepare(t, `sleep 15 & echo $! >pid; echo result`)
	if err != nil {
		return err
	}
	defer r.close()
	start := time.Now()
	// A file, so that only the tool can be waiting for the process's end.
	out, err := os.Create(r.dir + "/out")
	if err != nil {
		return err
	}
	defer out.Close()
	r.cmd.Stdout, r.cmd.Stderr = out, nil
	code, err := r.run()
	if err != nil {
		return err
	}
	text, _ := os.ReadFile(r.dir + "/out")
	if code != 0 || string(text) != "result\n" {
		return fmt.Errorf("exit code %d, stdout %q", code, text)
	}
	if took := time.Since(start); took > 10*time.Second {
		return fmt.Errorf("it took %v", took.Round(time.Second))
	}
	return nil
}

func readerGone(t tool) error {
	r, err := prepare(t, `true`)
	if err != nil {
		return err
	}
	defer r.close()
	argv := t.argv(t.program, []string{"yes"})
	pipeline := exec.Command("sh", "-c", strings.Join(argv, " ")+` | head -n 1`)
	pipeline.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	done := make(chan error, 1)
	if err := pipeline.Start(); err != nil {
		return err
	}
	go func() { done <- pipeline.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		syscall.Kill(-pipeline.Process.Pid, syscall.SIGKILL)
		return errors.New("stuck")
	}
}

func streamedOnce(t tool) error {
	r, err := prepare(t, `echo >>attempts; head -c 1000000 /dev/zero; exit 1`)
	if err != nil {
		return err
	}
	defer r.close()
	counted := &counter{}
	r.cmd.Stdout = counted
	if _, err := r.run(); err != nil {
		return err
	}
	if counted.n != 1_000_000 {
		return fmt.Errorf("%d attempts, %d bytes of the 1000000", r.attempts(), counted.n)
	}
	return nil
}
