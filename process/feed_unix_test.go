//go:build unix

package process

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// exact says that nothing is read ahead of a child. Of a pipe, only Linux can
// do that.
func exact(kind string) bool { return kind == "socket" || runtime.GOOS == "linux" }

func TestPipeIsReplayedAndThenLive(t *testing.T) {
	for kind := range pipes {
		t.Run(kind, func(t *testing.T) {
			r, w := openBoth(t, kind)
			s := newStdin(t, r)
			io.WriteString(w, "one two ")
			if got := cat(t, s, "4", "1"); got != "one " { // reads a part, and the pipe is open
				t.Errorf("first: %q", got)
			}
			if got := cat(t, s, "8", "1"); got != "one two " {
				t.Errorf("second: %q", got)
			}
			if got := cat(t, s, "0", "1"); got != "" { // reads nothing
				t.Errorf("third: %q", got)
			}
			io.WriteString(w, "three")
			w.Close()
			for range 2 {
				if got := cat(t, s, "-1", "0"); got != "one two three" {
					t.Errorf("then: %q", got)
				}
			}
		})
	}
}

func TestEmptyPipeIsEmptyEachTime(t *testing.T) {
	for kind := range pipes {
		r, w := openBoth(t, kind)
		w.Close()
		s := newStdin(t, r)
		for range 2 {
			if got := cat(t, s, "-1", "0"); got != "" {
				t.Errorf("%s: read %q", kind, got)
			}
		}
	}
}

// Attempts that each read some, then another reader: nobody misses anything.
func TestWhatNoAttemptTookIsLeft(t *testing.T) {
	all := text(40000)
	for kind := range pipes {
		if !exact(kind) {
			continue
		}
		for _, reads := range [][]int{{0}, {1}, {4095}, {4096}, {4097}, {100, 9000, 50}, {12345, 0, 12346}, {40000, 3}} {
			r, w := openBoth(t, kind)
			s := newStdin(t, r)
			io.WriteString(w, all)
			most := 0
			for _, n := range reads {
				if got := cat(t, s, fmt.Sprint(n), "1"); got != all[:n] {
					t.Errorf("%s, %v: an attempt read %d bytes, or others", kind, reads, len(got))
				}
				most = max(most, n)
			}
			if got := rest(t, r, w); got != all[most:] {
				t.Errorf("%s, %v: %d bytes are left, want %d", kind, reads, len(got), len(all)-most)
			}
		}
	}
}

// The same with an attempt that is a goroutine, in random sequences, against
// the model: of the real input is gone what the greediest attempt took.
func TestTakenIsWhatTheGreediestAttemptTook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"pipe", "socket"}).Draw(t, "kind")
		r, w, err := pipes[kind]()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		s, err := NewStdin(r, Replay)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ahead := rapid.Bool().Draw(t, "cannot look into it")
		if ahead {
			s.pipe.source = &readSource{}
		}
		written, most := "", 0
		write := func(t *rapid.T) {
			piece := text(rapid.IntRange(1, 9000).Draw(t, "bytes"))
			if len(written)-most+len(piece) > 32<<10 {
				t.Skip("the pipe may be full")
			}
			io.WriteString(w, piece)
			written += piece
		}
		read := func(t *rapid.T) {
			n := rapid.IntRange(0, len(written)).Draw(t, "bytes")
			piece := rapid.IntRange(1, 10000).Draw(t, "piece")
			f, err := s.attach(newFlag())
			if err != nil {
				t.Fatal(err)
			}
			f.start()
			got := make([]byte, n)
			for at := 0; at < n; {
				k, err := f.child.Read(got[at:min(n, at+piece)])
				if err != nil {
					t.Fatalf("after %d of %d bytes: %v", at, n, err)
				}
				at += k
			}
			f.stop()
			if string(got) != written[:n] {
				t.Fatal("an attempt got another input")
			}
			if most = max(most, n); s.pipe.spool.size != int64(most) {
				t.Fatalf("%d bytes are kept, want %d", s.pipe.spool.size, most)
			}
		}
		t.Repeat(map[string]func(*rapid.T){"write": write, "read": read})
		w.Close()
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch read := len(written) - most - len(got); {
		case ahead && (read < 0 || read > page), !ahead && exact(kind) && read != 0:
			t.Fatalf("%d bytes more than the attempts took are gone", read)
		case string(got) != written[len(written)-len(got):]:
			t.Fatal("what is left is another")
		}
	})
}

// A child that reads a part and is killed, and one that shuts its input and
// lives on: what is taken of the pipe is what it had.
func TestChildThatStopsReading(t *testing.T) {
	for kind := range pipes {
		if !exact(kind) {
			continue
		}
		for _, role := range []string{"part", "shut"} {
			for _, n := range []int{0, 1000, 5000} {
				all, dir := text(20000), t.TempDir()
				r, w := openBoth(t, kind)
				io.WriteString(w, all)
				read, end := filepath.Join(dir, "read"), filepath.Join(dir, "end")
				c := command(t, role, fmt.Sprint(n), read, end)
				c.Stdin = newStdin(t, r)
				go func() {
					waitForFile(read)
					if role == "part" {
						unix.Kill(pidIn(t, read), unix.SIGKILL)
					} else {
						os.WriteFile(end, nil, 0o600)
					}
				}()
				if _, stdout, _ := attempt(t, c); stdout != all[:n] {
					t.Errorf("%s, %s: the child had %d bytes, or others", kind, role, len(stdout))
				}
				if left := rest(t, r, w); left != all[n:] {
					t.Errorf("%s, %s: %d bytes of %d are left after %d", kind, role, len(left), len(all), n)
				}
			}
		}
	}
}

// A process that the child leaves behind with its input sees the end, and takes
// nothing that the next reader would miss.
func TestProcessThatInheritsTheInput(t *testing.T) {
	for kind := range pipes {
		if !exact(kind) {
			continue
		}
		all, dir := text(20000), t.TempDir()
		r, w := openBoth(t, kind)
		io.WriteString(w, all)
		s := newStdin(t, r)
		ready, said := filepath.Join(dir, "ready"), filepath.Join(dir, "said")
		c := command(t, "heir", "1000", ready, said)
		c.Stdin = s
		if _, stdout, _ := attempt(t, c); stdout != all[:1000] {
			t.Errorf("%s: the child had %d bytes", kind, len(stdout))
		}
		os.WriteFile(ready+".end", nil, 0o600)
		waitForFile(said)
		if n, _ := os.ReadFile(said); string(n) != "0" {
			t.Errorf("%s: what was left behind read %s bytes after the attempt", kind, n)
		}
		if got := cat(t, s, "2000", "1"); got != all[:2000] {
			t.Errorf("%s: the next attempt had %d bytes, or others", kind, len(got))
		}
		if left := rest(t, r, w); left != all[2000:] {
			t.Errorf("%s: %d bytes are left", kind, len(left))
		}
	}
}

// While a child has a part of a page, another process reads from the pipe:
// what it takes is not missing anywhere, and no more than that is there twice.
func TestAnotherReaderTakesBytesInBetween(t *testing.T) {
	for kind := range pipes {
		if !exact(kind) {
			continue
		}
		for _, stolen := range []int{1, 500, 3000, page, page + 1000, 2 * page} {
			all, dir := text(2*page), t.TempDir()
			r, w := openBoth(t, kind)
			io.WriteString(w, all)
			s := newStdin(t, r)
			read, end := filepath.Join(dir, "read"), filepath.Join(dir, "end")
			c := command(t, "part", "100", read, end)
			c.Stdin = s
			go func() {
				waitForFile(read)
				io.CopyN(io.Discard, r, int64(stolen))
				w.Close()
				os.WriteFile(end, nil, 0o600)
			}()
			want := all[:page] + all[max(page, stolen):] // a page was on its way already
			if _, stdout, _ := attempt(t, c); stdout != want {
				t.Errorf("%s: %d stolen: the child had %d bytes, want %d", kind, stolen, len(stdout), len(want))
			}
			if got := cat(t, s, "-1", "0"); got != want {
				t.Errorf("%s: %d stolen: then %d bytes, want %d", kind, stolen, len(got), len(want))
			}
		}
	}
}

// Several processes write at the same time, in pieces that are never torn.
func TestSeveralWriters(t *testing.T) {
	r, w := openBoth(t, "pipe")
	const writers, lines = 4, 2000
	over := make(chan struct{})
	for i := range writers {
		go func() {
			for j := range lines {
				fmt.Fprintf(w, "%d %d\n", i, j)
			}
			over <- struct{}{}
		}()
	}
	go func() {
		for range writers {
			<-over
		}
		w.Close()
	}()
	s := newStdin(t, r)
	first := cat(t, s, "-1", "1")
	var next [writers]int
	for line := range strings.Lines(first) {
		var i, j int
		if _, err := fmt.Sscanf(line, "%d %d\n", &i, &j); err != nil || j != next[i] {
			t.Fatalf("%q, %v", line, err)
		}
		next[i]++
	}
	if next != [writers]int{lines, lines, lines, lines} {
		t.Error(next)
	}
	if second := cat(t, s, "-1", "0"); second != first {
		t.Errorf("then %d bytes, or others", len(second))
	}
}

// A loop of a shell script whose body runs a command with the loop's input.
func TestShellLoopLosesNoLine(t *testing.T) {
	if !exact("pipe") {
		t.Skip("a pipe is read ahead here")
	}
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	const lines = 20
	got := twice(t, `while read x; do $twice replay 1 true; echo $x; done`, strings.NewReader(numbers(1, lines)))
	if got != numbers(1, lines) {
		t.Errorf("a command that does not read: %q", got)
	}
	// The command takes a line, fails, and takes the same line again.
	got = twice(t, `while read x; do echo $x; $twice replay 1 sh -c 'read y; echo $y; test -e '$$.$x' || { touch '$$.$x'; exit 1; }'; rm $$.$x; done`,
		strings.NewReader(numbers(1, lines)))
	if got != numbers(1, lines) {
		t.Errorf("a command that reads a line: %q", got)
	}
	// What is left after the call is the next command's.
	got = twice(t, `$twice replay 1 sh -c 'read a; read b; echo $a $b'; cat`, strings.NewReader(numbers(1, 5000)))
	if got != "1 2\n"+numbers(3, 5000) {
		t.Errorf("a command after it: %d bytes", len(got))
	}
}

// A child may make its pipe larger, and then it does not tell when it is empty.
func TestPipeThatIsNotOfOnePage(t *testing.T) {
	all := text(50000)
	r, w := openBoth(t, "pipe")
	go func() { io.WriteString(w, all) }()
	s := newStdin(t, r)
	f, err := s.attach(newFlag())
	if err != nil {
		t.Fatal(err)
	}
	enlarge(f.child)
	f.start()
	got := make([]byte, 30001)
	if _, err := io.ReadFull(f.child, got); err != nil || string(got) != all[:30001] {
		t.Error(err)
	}
	f.stop()
	if s.pipe.spool.size != 30001 {
		t.Errorf("%d bytes were taken", s.pipe.spool.size)
	}
	if got := cat(t, s, "50000", "0"); got != all {
		t.Errorf("then %d bytes", len(got))
	}
}

// After an attempt nothing is read from the pipe.
func TestNothingIsTakenAfterTheAttempt(t *testing.T) {
	for kind := range pipes {
		r, w := openBoth(t, kind)
		s := newStdin(t, r)
		cat(t, s, "0", "0")
		io.WriteString(w, "for the next one")
		time.Sleep(50 * time.Millisecond) // who still waits for input has it by now
		if got := rest(t, r, w); got != "for the next one" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
