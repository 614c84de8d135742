package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/progress"
)

// onScreen is a Printer on a screen of a test.
func onScreen(s *screen, o Options) *Printer {
	o.Progress = &progress.State{}
	p := &Printer{options: o, log: newLog(s, false)}
	p.line = &line{
		out: s, columns: func() int { return s.columns },
		shown: func() bool { return true }, ready: func() bool { return true },
	}
	p.signals = func() {}
	return p
}

// see passes an event on as a call does.
func (p *Printer) see(e host.Event) {
	p.options.Progress.Add(e)
	p.Observe(e)
}

// child is the command's output on the same terminal.
func (p *Printer) child(s *screen) io.Writer { return &output{printer: p, file: s, terminal: true} }

func waiting(attempt int64, delay, left time.Duration) host.Waiting {
	return host.Waiting{Kind: "unavailable", Budget: "unavailable", Attempt: attempt, Delay: delay, Remaining: &left}
}

func exited(code int64) abi.Result { return abi.Result{ExitCode: &code} }

func failed(attempt int64, at time.Duration) host.AttemptEnded {
	return host.AttemptEnded{Attempt: attempt, At: at, Result: exited(7)}
}

func TestTheLineCountsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		p := onScreen(s, Options{})
		want := func(text string) {
			t.Helper()
			synctest.Wait()
			if got := s.text(); got != text {
				t.Errorf("%q, and not %q", got, text)
			}
		}
		want("") // the first attempt
		p.see(failed(1, 3*time.Second))
		want("")
		w := waiting(2, 500*time.Millisecond, 150*time.Second)
		w.At = 3 * time.Second
		p.see(w)
		want("outlast: unavailable for 0 s of 150 s; attempt 2 in 1 s")
		time.Sleep(500 * time.Millisecond)
		want("outlast: unavailable; attempt 2 running")
		time.Sleep(time.Hour)
		want("outlast: unavailable; attempt 2 running")

		p.see(failed(2, 10*time.Second))
		w = waiting(6, 7*time.Second, 138*time.Second)
		w.At = 11500 * time.Millisecond // 1.5 s to load the plugin, which the delay includes
		p.see(w)
		want("outlast: unavailable for 14 s of 150 s; attempt 6 in 6 s")
		time.Sleep(500 * time.Millisecond)
		want("outlast: unavailable for 14 s of 150 s; attempt 6 in 5 s")
		for left := 4; left > 0; left-- {
			time.Sleep(time.Second)
			want(fmt.Sprintf("outlast: unavailable for %d s of 150 s; attempt 6 in %d s", 19-left, left))
		}
		time.Sleep(time.Second)
		want("outlast: unavailable; attempt 6 running")
		p.see(host.AttemptEnded{Attempt: 6, OK: true, Result: exited(0)})
		want("")
		p.see(host.Stopped{})
		p.Finish(&abi.Outcome{Type: abi.OutcomeOK, Attempts: 6, Message: "succeeded after 6 attempts"})
		p.Close()
		want("")
	})
}

// The line tells a budget's window where there is one, and that a server loads.
func TestTheLineTellsTheWait(t *testing.T) {
	zero := time.Now()
	const s = time.Second
	for want, w := range map[string]progress.Wait{
		"unavailable for 2 s of 150 s; attempt 2 in 3 s": {Kind: "unavailable", Attempt: 2, Opened: 8 * s, Window: 150 * s, Due: 13 * s},
		"not ready for 0 s of 150 s; attempt 3 in 1 s":   {Kind: "unavailable", Loading: true, Attempt: 3, Opened: 10 * s, Window: 150 * s, Due: 10*s + 1},
		"conflict for 6 s; attempt 5 in 2 s":             {Kind: "conflict", Attempt: 5, Opened: 4 * s, Due: 12 * s},
		"conflict; attempt 5 running":                    {Kind: "conflict", Attempt: 5, Opened: 4 * s, Due: 10 * s},
	} {
		if got, _ := newWait(&w, zero).text(zero.Add(10 * s)); got != want {
			t.Errorf("%q, and not %q", got, want)
		}
	}
}

// An attempt that a wake lets begin early is running, whatever was counted down.
func TestAttemptingEndsTheCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		p := onScreen(s, Options{})
		p.Attempting(1)
		p.see(waiting(2, 10*time.Second, 150*time.Second))
		time.Sleep(2 * time.Second)
		p.Attempting(2)
		for range 2 {
			if got := s.text(); got != "outlast: unavailable; attempt 2 running" {
				t.Errorf("%q", got)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		p.Close()
	})
}

// Whatever the command prints and whenever, in the end the screen shows that
// and outlast's log lines, in their order and nothing else.
func TestTheCommandsOutputIsIntact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) { drawnApart(rt) })
	})
}

func drawnApart(t *rapid.T) {
	columns, height := rapid.IntRange(2, 40).Draw(t, "columns"), rapid.IntRange(2, 6).Draw(t, "height")
	shown, want := newScreen(columns, height), newScreen(columns, height)
	for range rapid.IntRange(0, 8).Draw(t, "before") {
		for _, s := range []*screen{shown, want} {
			io.WriteString(s, "$ before\n")
		}
	}
	p := onScreen(shown, Options{})
	child := p.child(shown)
	unfinished := false
	for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0, 1:
			p.see(waiting(int64(n+2), time.Duration(rapid.IntRange(0, 3000).Draw(t, "delay"))*time.Millisecond, 150*time.Second))
		case 2:
			time.Sleep(time.Duration(rapid.IntRange(0, 4000).Draw(t, "time")) * time.Millisecond)
		case 3:
			p.see(failed(int64(n+1), 0))
		case 4:
			text := rapid.StringMatching(`[a-z]{1,60}(\n[a-z]{0,9})?(\n|\r|)`).Draw(t, "text")
			io.WriteString(child, text)
			io.WriteString(want, text)
			unfinished = !strings.HasSuffix(text, "\n")
		case 5:
			p.Notice("note %d", n)
			if unfinished {
				io.WriteString(want, nextLine)
				unfinished = false
			}
			fmt.Fprintf(want, "outlast: note %d\n", n)
		}
		synctest.Wait()
	}
	p.Close()
	if shown.text() != want.text() || shown.row != want.row || shown.column != want.column {
		t.Fatalf("at %d, %d:\n%s\nand not at %d, %d:\n%s", shown.row, shown.column, shown.text(), want.row, want.column, want.text())
	}
}

func TestTheLineFitsIntoTheRow(t *testing.T) {
	for _, columns := range []int{1, 2, 10, 56, 57, 58, 200} {
		s := newScreen(columns, 24)
		p := onScreen(s, Options{})
		p.see(waiting(2, 10*time.Second, 150*time.Second))
		whole := "outlast: unavailable for 0 s of 150 s; attempt 2 in 10 s"
		want := strings.TrimSpace(whole[:min(len(whole), columns-1)])
		if columns > 1 && (s.row != 0 || s.text() != want) {
			t.Errorf("%d columns: %q", columns, s.text())
		}
		p.Close()
		if s.text() != "" {
			t.Errorf("%d columns: %q is left", columns, s.text())
		}
	}
}

func TestANarrowerTerminal(t *testing.T) {
	for _, wraps := range []bool{true, false} {
		for _, then := range []func(*Printer){(*Printer).Close, (*Printer).tick} {
			s := newScreen(80, 24)
			io.WriteString(s, "$ before\n")
			p := onScreen(s, Options{})
			p.see(waiting(2, 10*time.Second, 150*time.Second))
			s.narrow(25, wraps)
			then(p)
			if want := "$ before\noutlast: unavailable for"; s.text() != want && s.text() != "$ before" {
				t.Errorf("wraps %v: %q", wraps, s.text())
			}
			p.Close()
			if s.text() != "$ before" || s.row != 1 || s.column != 0 {
				t.Errorf("wraps %v: %q is left", wraps, s.text())
			}
		}
	}
}

// While an attempt prints, the line stays away: it may be a progress of its own.
func TestTheLineStaysAwayFromOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		p := onScreen(s, Options{})
		p.see(waiting(2, time.Second, 150*time.Second))
		time.Sleep(time.Second)
		synctest.Wait()
		io.WriteString(p.child(s), "half")
		p.tick() // as a change of size does
		if s.text() != "half" {
			t.Errorf("%q", s.text())
		}
		p.see(waiting(3, 2*time.Second, 149*time.Second))
		if s.text() != "half\noutlast: unavailable for 1 s of 150 s; attempt 3 in 2 s" {
			t.Errorf("%q", s.text())
		}
		io.WriteString(p.child(s), " and half") // late, in a wait: then it comes back
		if s.text() != "half and half" {
			t.Errorf("%q", s.text())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s.text() != "half and half\noutlast: unavailable for 2 s of 150 s; attempt 3 in 1 s" {
			t.Errorf("%q", s.text())
		}
		p.Close()
	})
}

// With the pager that reads stdout a write may block, and must hold up
// nothing else.
func TestABlockedPipeHoldsUpNothing(t *testing.T) {
	s := newScreen(80, 24)
	p := onScreen(s, Options{})
	read, write := io.Pipe()
	p.see(waiting(2, time.Hour, 150*time.Second))
	done := make(chan struct{})
	go func() {
		(&output{printer: p, file: write}).Write([]byte("output"))
		close(done)
	}()
	buf := make([]byte, 1)
	read.Read(buf) // the writer is in its write
	p.Notice("note")
	p.Close()
	io.CopyN(io.Discard, read, 5)
	<-done
	if s.text() != "outlast: note" {
		t.Errorf("%q", s.text())
	}
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		p := onScreen(s, Options{})
		done := p.Status("waiting for the lock %s", "ü\x1b[2J")
		if s.text() != "outlast: waiting for the lock ??[2J, for 0 s" {
			t.Errorf("%q", s.text())
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if s.text() != "outlast: waiting for the lock ??[2J, for 90 s" {
			t.Errorf("%q", s.text())
		}
		done()
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if s.text() != "" {
			t.Errorf("%q", s.text())
		}
		p.Close()
	})
}

func TestVerboseOnATerminal(t *testing.T) {
	s := newScreen(80, 24)
	p := onScreen(s, Options{Verbose: true})
	took := int64(200_000)
	e := failed(1, 0)
	e.Result.StartedUS, e.Result.EndedUS = new(int64), &took
	p.see(e)
	p.see(host.Loaded{How: "compiled", Took: 20 * time.Millisecond})
	p.see(waiting(2, 10*time.Second, 150*time.Second))
	want := "outlast: attempt 1 failed with exit code 7 after 0.2 s\n" +
		"outlast: the plugin was loaded (compiled) in 0 s\n" +
		"outlast: unavailable; attempt 2 in 10 s, and at most 150 s of waiting left"
	if s.text() != want+"\noutlast: unavailable for 0 s of 150 s; attempt 2 in 10 s" {
		t.Errorf("%s", s.text())
	}
	p.Close()
	if s.text() != want {
		t.Errorf("%s", s.text())
	}
}

// Many at once, for the race detector; each line is whole.
func TestManyAtOnce(t *testing.T) {
	var buf bytes.Buffer
	s := newScreen(80, 24)
	p := onScreen(s, Options{})
	p.log = newLog(&buf, true)
	child := p.child(s)
	var all sync.WaitGroup
	all.Go(func() { // events come one after another
		for range 400 {
			p.see(waiting(2, time.Millisecond, time.Second))
		}
	})
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				p.Notice("note %d", n)
				io.WriteString(child, "x\n")
				p.Status("status")()
			}
		})
	}
	all.Wait()
	p.Close()
	lines := 0
	for line := range strings.Lines(buf.String()) {
		lines++
		if !json.Valid([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
	if lines != 8*50 || strings.Trim(s.text(), "x\n") != "" {
		t.Errorf("%d lines, %q", lines, s.text())
	}
}
