//go:build unix

package process

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A gibibyte goes through a process that uses this package, and none of it
// stays there.
func TestGibibyteInLittleMemory(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc here")
	}
	for _, stream := range []string{"", " >&2"} {
		r := newTool(t, nil, "sh", "-c", "head -c 1073741824 /dev/zero"+stream)
		r.cmd.Env = append(r.cmd.Env, peakEnv+"="+r.path("peak"))
		var n counting
		r.cmd.Stdout, r.cmd.Stderr = &n, &n
		r.start()
		if got := r.status(); got != 0 || n != 1<<30 {
			t.Errorf("%q: status %d, %d bytes", stream, got, n)
		}
		peak := pidIn(t, r.path("peak"))
		if limit := 64 << 10; peak > limit && !raceDetector {
			t.Errorf("%q: %d KiB of memory, more than %d", stream, peak, limit)
		}
		t.Logf("peak %d KiB", peak)
	}
}

type counting int64

func (c *counting) Write(p []byte) (int, error) { *c += counting(len(p)); return len(p), nil }

// The reader takes some and goes: the command is ended by SIGPIPE, as in any
// pipeline, and the call is over.
func TestReaderWhoGoesEndsThePipeline(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := newTool(t, nil, "sh", "-c", "exec yes")
	r.cmd.Stdout = write
	r.start()
	write.Close()
	if _, err := io.ReadFull(read, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	read.Close()
	if got := r.status(); got != 141 || !strings.Contains(r.stderr.String(), "broken pipe") {
		t.Errorf("status %d, stderr %q", got, &r.stderr)
	}
}

// Output that cannot be written is reported, and is no success, whether it is held
// or streamed. If the command then ends by SIGPIPE, that is only because its pipe
// was closed.
func TestFullDiskIsNoSuccess(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"echo short":                             1,
		"echo short; exit 3":                     3,
		"echo short; kill -PIPE $$":              141, // its own
		"head -c 200000 /dev/zero; exit 0":       1,
		"exec head -c 300000 /dev/zero":          1,
		"head -c 300000 /dev/zero; exit $?":      1,
		"trap '' PIPE; head -c 300000 /dev/zero": 1, // what head itself makes of it
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no /dev/full here: ", err)
		}
		defer full.Close()
		r := newTool(t, nil, "sh", "-c", script)
		r.cmd.Stdout = full
		r.start()
		if got := r.status(); got != want || !strings.Contains(r.stderr.String(), "no space left") {
			t.Errorf("%s: status %d, stderr %q", script, got, &r.stderr)
		}
	}
}

func TestOutputIsByteForByteAndInOrder(t *testing.T) {
	t.Parallel()
	want := make([]byte, 3<<20)
	io.ReadFull(noise(), want)
	for _, size := range []int{0, 1, holdBytes, holdBytes + 1, 3 << 20} {
		r := newTool(t, nil, "@noise", itoa(size), "0")
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.cmd.Stdout = write
		r.start()
		write.Close()
		time.Sleep(20 * time.Millisecond) // a reader who is late
		got, err := io.ReadAll(read)
		read.Close()
		if status := r.status(); err != nil || status != 0 || !bytes.Equal(got, want[:size]) {
			t.Errorf("%d bytes: %d came, status %d, %v", size, len(got), status, err)
		}
	}
}

func TestTheStderrOfAFailedAttempt(t *testing.T) {
	var out, errs bytes.Buffer
	c := command(t, "say", "half a result", "Error: it broke", "1")
	c.Stdout, c.Stderr = &out, &errs
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Error: it broke", ""} { // the second has nothing left
		if got := e.TakeStderr(); string(got) != want {
			t.Errorf("%q", got)
		}
	}
	if out.Len() > 0 {
		t.Errorf("stdout is shown too: %q", &out)
	}
	if err := e.Commit(); err != nil || out.String() != "half a result" || errs.Len() > 0 {
		t.Errorf("%v, %q, %q", err, &out, &errs)
	}
}

// What the tool costs over a program that only runs the same command.
func BenchmarkTrue(b *testing.B) {
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("attempt", func(b *testing.B) {
		c := &Command{Argv: []string{"true"}, Stdout: io.Discard, Stderr: io.Discard}
		for b.Loop() {
			if _, err := c.Attempt(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
