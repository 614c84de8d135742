package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
)

// onScreen is a Printer on a screen of a test.
func onScreen(s *screen, o Options) *Printer {
	p := &Printer{options: o, log: newLog(s, false)}
	p.line = &line{
		out: s, columns: func() int { return s.columns },
		ours: func() bool { return true }, ready: func() bool { return true },
	}
	p.signals = func() {}
	return p
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
		p.Observe(failed(1, 3*time.Second))
		want("")
		w := waiting(2, 500*time.Millisecond, 150*time.Second)
		w.At = 3 * time.Second
		p.Observe(w)
		want("outlast: unavailable for 0 s of 150 s; attempt 2 in 1 s")
		time.Sleep(500 * time.Millisecond)
		want("outlast: unavailable; attempt 2 running")
		time.Sleep(time.Hour)
		want("outlast: unavailable; attempt 2 running")

		p.Observe(failed(2, 10*time.Second))
		w = waiting(6, 7*time.Second, 138*time.Second)
		w.At = 11500 * time.Millisecond // 1.5 s to load the plugin, which the delay includes
		p.Observe(w)
		want("outlast: unavailable for 14 s of 150 s; attempt 6 in 6 s")
		time.Sleep(500 * time.Millisecond)
		want("outlast: unavailable for 14 s of 150 s; attempt 6 in 5 s")
		for left := 4; left > 0; left-- {
			time.Sleep(time.Second)
			want(fmt.Sprintf("outlast: unavailable for %d s of 150 s; attempt 6 in %d s", 19-left, left))
		}
		time.Sleep(time.Second)
		want("outlast: unavailable; attempt 6 running")
		p.Observe(host.AttemptEnded{Attempt: 6, OK: true, Result: exited(0)})
		want("")
		p.Observe(host.Stopped{})
		p.Finish(&abi.Outcome{Type: abi.OutcomeOK, Attempts: 6, Message: "succeeded after 6 attempts"})
		p.Close()
		want("")
	})
}

// A delay counts from what the policy was told last: a server that was seen is
// such an event, and so is the end of a repair, which is not observed.
func TestDelaysCountFromTheLastEvent(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		last host.Event
		want string
	}{
		{failed(1, 7*time.Second), "unavailable for 3 s of 150 s; attempt 2 in 2 s"},
		{host.Woken{At: 8 * time.Second}, "unavailable for 2 s of 150 s; attempt 2 in 3 s"},
		{host.LeftOut{At: 9 * time.Second}, "unavailable for 1 s of 150 s; attempt 2 in 4 s"},
		{host.LeftOut{At: 9 * time.Second, NotReady: true}, "loading for 1 s of 150 s; attempt 2 in 4 s"},
		{host.Repairing{At: 5 * time.Second}, "unavailable for 0 s of 150 s; attempt 2 in 5 s"},
	} {
		p := New(Options{})
		p.Observe(c.last)
		w := waiting(2, 5*time.Second, 150*time.Second)
		w.At = 10 * time.Second
		if got, _ := p.waits.add(&w, now).text(now); got != c.want {
			t.Errorf("%T: %q, and not %q", c.last, got, c.want)
		}
	}
}

func TestWindowsOfSeveralBudgets(t *testing.T) {
	now := time.Now()
	var w waits
	for _, step := range []struct {
		event host.Waiting
		after time.Duration
		want  string
	}{
		{waiting(2, time.Second, 150*time.Second), 0, "unavailable for 0 s of 150 s; attempt 2 in 1 s"},
		{waiting(3, time.Second, 148*time.Second), 2, "unavailable for 2 s of 150 s; attempt 3 in 1 s"},
		{host.Waiting{Kind: "conflict", Budget: "conflict", Attempt: 4, Delay: 2 * time.Second}, 3, "conflict for 0 s; attempt 4 in 2 s"},
		{host.Waiting{Kind: "conflict", Budget: "conflict", Attempt: 5, Delay: 2 * time.Second}, 9, "conflict for 6 s; attempt 5 in 2 s"},
		{waiting(6, time.Second, 150*time.Second), 60, "unavailable for 0 s of 150 s; attempt 6 in 1 s"}, // a new window
		{waiting(7, time.Second, 120*time.Second), 90, "unavailable for 30 s of 150 s; attempt 7 in 1 s"},
	} {
		at := now.Add(step.after * time.Second)
		wait := w.add(&step.event, at)
		if got, _ := wait.text(at); got != step.want {
			t.Errorf("%q, and not %q", got, step.want)
		}
	}
}

// An attempt that a wake lets begin early is running, whatever was counted down.
func TestAttemptingEndsTheCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		p := onScreen(s, Options{})
		p.Attempting(1)
		p.Observe(waiting(2, 10*time.Second, 150*time.Second))
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
// and our log lines, in their order and nothing else.
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
			p.Observe(waiting(int64(n+2), time.Duration(rapid.IntRange(0, 3000).Draw(t, "delay"))*time.Millisecond, 150*time.Second))
		case 2:
			time.Sleep(time.Duration(rapid.IntRange(0, 4000).Draw(t, "time")) * time.Millisecond)
		case 3:
			p.Observe(failed(int64(n+1), 0))
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
		p.Observe(waiting(2, 10*time.Second, 150*time.Second))
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
			p.Observe(waiting(2, 10*time.Second, 150*time.Second))
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
		p.Observe(waiting(2, time.Second, 150*time.Second))
		time.Sleep(time.Second)
		synctest.Wait()
		io.WriteString(p.child(s), "half")
		p.tick() // as a change of size does
		if s.text() != "half" {
			t.Errorf("%q", s.text())
		}
		p.Observe(waiting(3, 2*time.Second, 149*time.Second))
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

// With the pager that reads our stdout a write may block, and must hold up
// nothing else.
func TestABlockedPipeHoldsUpNothing(t *testing.T) {
	s := newScreen(80, 24)
	p := onScreen(s, Options{})
	read, write := io.Pipe()
	p.Observe(waiting(2, time.Hour, 150*time.Second))
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
	p.Observe(e)
	p.Observe(host.Loaded{How: "cached", Took: 20 * time.Millisecond})
	p.Observe(waiting(2, 10*time.Second, 150*time.Second))
	want := "outlast: attempt 1 failed with exit code 7 after 0.2 s\n" +
		"outlast: the plugin was loaded (cached) in 0 s\n" +
		"outlast: unavailable; attempt 2 in 10 s, and at most 150 s of waiting left"
	if s.text() != want+"\noutlast: unavailable for 0 s of 150 s; attempt 2 in 10 s" {
		t.Errorf("%s", s.text())
	}
	p.Close()
	if s.text() != want {
		t.Errorf("%s", s.text())
	}
}

// toFile is what a Printer with these options writes to a file.
func toFile(t *testing.T, o Options, use func(*Printer)) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o.Out = f
	p := New(o)
	use(p)
	p.Close()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// secretText stands for whatever the command has printed.
const secretText = "tcp connect error: the command's own words"

// wholeCall has every event there is.
func wholeCall(p *Printer) {
	result := exited(1)
	result.Stdout, result.Stderr = abi.Clip(secretText), abi.Clip(secretText)
	p.Observe(host.AttemptEnded{Attempt: 1, Result: result})
	p.Observe(host.Loaded{How: "interpreted", Why: "there is no cache directory", Took: time.Second})
	p.Observe(host.InstanceReplaced{Err: &abi.Error{Code: "internal", Message: secretText}})
	p.Observe(waiting(2, 500*time.Millisecond, 150*time.Second))
	p.Attempting(2)
	p.Observe(host.AttemptEnded{Attempt: 2, Result: abi.Result{Signal: "SIGKILL", Message: abi.Clip(secretText)}})
	p.Observe(host.Unwatched{Why: "a proxy is in the way"})
	p.Observe(host.LeftOut{})
	p.Observe(host.LeftOut{NotReady: true})
	again := waiting(2, 2*time.Second, 149*time.Second)
	again.Again, again.Watched = true, abi.Ready
	p.Observe(again)
	p.Observe(host.Woken{By: abi.Ready})
	p.Observe(host.Waiting{Kind: "conflict", Budget: "conflict", Attempt: 3, Delay: time.Second})
	p.Observe(host.AttemptEnded{Attempt: 3, Result: abi.Result{TimedOut: true}})
	p.Observe(host.Repairing{Kind: "needs_repair", Force: true})
	o := abi.Outcome{
		Type: abi.OutcomeIndeterminate, Kind: "interrupted", Effects: abi.EffectsUnknown, Attempts: 3, ElapsedUS: 2_500_000,
		Message: "interrupted after 3 attempts over 2.5 s; it may have been applied", Remedy: "Look.",
		LastError: secretText, History: []abi.HistoryEntry{{Attempt: 1, Kind: "unavailable"}},
	}
	p.Observe(host.Stopped{Outcome: o})
	p.Notice("host name %q does not resolve", "grahp")
	p.Finish(&o)
}

// Down and loading are told once each, as they come; an attempt ends what was
// seen before it.
func TestLoadingIsTold(t *testing.T) {
	got := toFile(t, Options{Watched: "http://graph:8080/readyz"}, func(p *Printer) {
		for _, notReady := range []bool{false, false, true, true, false} {
			p.Observe(host.LeftOut{NotReady: notReady})
		}
	})
	if strings.Count(got, "is seen to be down") != 1 || strings.Count(got, "is there, and loading") != 1 {
		t.Errorf("told:\n%s", got)
	}
	p := New(Options{})
	p.Observe(host.LeftOut{NotReady: true})
	p.Observe(failed(2, 0))
	w := waiting(3, 5*time.Second, 150*time.Second)
	if text, _ := p.waits.add(&w, time.Now()).text(time.Now()); !strings.HasPrefix(text, "unavailable for") {
		t.Errorf("after the attempt: %q", text)
	}
}

// An error's own "outlast: " is not said twice, wherever it is told.
func TestPrefixIsSaidOnce(t *testing.T) {
	for _, format := range []Format{Text, JSON} {
		got := toFile(t, Options{Format: format, Verbose: true}, func(p *Printer) {
			err := errors.New("outlast: SIGTERM could not be passed on")
			p.Notice("%v", err)
			p.Error(err)
			p.Status("%v", err)()
			p.Observe(host.InstanceReplaced{Err: err})
			p.Finish(&abi.Outcome{Type: abi.OutcomeFailed, Attempts: 2, Message: err.Error()})
		})
		prefixes := map[Format]int{Text: 5, JSON: 0}[format] // one a line
		if n := strings.Count(got, "outlast: "); n != prefixes || strings.Count(got, "\n") != 5 {
			t.Errorf("%s", got)
		}
	}
}

func TestTextLog(t *testing.T) {
	got := toFile(t, Options{Watched: "http://graph:80/healthz"}, wholeCall)
	want := `outlast: the plugin failed, and was replaced: the plugin answered with the error internal
outlast: unavailable; attempt 2 in 0.5 s, and at most 150 s of waiting left
outlast: http://graph:80/healthz is seen to be down: the next attempt is made when it is back, or when the time to wait is over
outlast: http://graph:80/healthz is there, and loading: the next attempt is made when it is ready, or when one is due all the same
outlast: the server is back
outlast: conflict; attempt 3 in 1 s
outlast: needs_repair; repairing the store
outlast: host name "grahp" does not resolve
outlast: interrupted after 3 attempts over 2.5 s; it may have been applied
outlast: Look.
`
	if got != want {
		t.Errorf("%s", got)
	}
	if same := toFile(t, Options{Format: Text, Watched: "http://graph:80/healthz"}, wholeCall); same != got {
		t.Errorf("%s", same)
	}
	verbose := toFile(t, Options{Verbose: true}, wholeCall)
	for _, line := range []string{
		"outlast: still unavailable; attempt 2 in 2 s, and at most 149 s of waiting left\n", "outlast: attempt 1 failed with exit code 1\n", "outlast: attempt 2 was ended by SIGKILL\n", "outlast: attempt 3 timed out\n",
		"outlast: the plugin was loaded (interpreted) in 1 s: there is no cache directory\n",
		"outlast: nobody watches for the server's return: a proxy is in the way\n",
	} {
		if !strings.Contains(verbose, line) {
			t.Errorf("%q is not in\n%s", line, verbose)
		}
	}
}

func TestJSONLog(t *testing.T) {
	text := toFile(t, Options{Format: JSON, Verbose: true}, wholeCall)
	events := map[string]map[string]any{}
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		stamp, err := time.Parse(time.RFC3339Nano, m["time"].(string))
		if err != nil || time.Since(stamp).Abs() > time.Hour || m["level"] == "" || m["msg"] == "" {
			t.Errorf("%v: %s", err, line)
		}
		events[m["event"].(string)] = m
	}
	for event, want := range map[string]map[string]any{
		"attempt_ended":     {"level": "INFO", "attempt": 3.0, "ok": false, "timed_out": true},
		"waiting":           {"level": "WARN", "kind": "conflict", "budget": "conflict", "attempt": 3.0, "delay_us": 1e6},
		"repairing":         {"kind": "needs_repair", "force": true},
		"plugin_loaded":     {"how": "interpreted", "took_us": 1e6},
		"instance_replaced": {"level": "WARN"},
		"woken":             {"level": "INFO", "by": "ready"},
		"notice":            {"msg": `host name "grahp" does not resolve`},
		"stopped": {
			"level": "ERROR", "outcome": "indeterminate", "kind": "interrupted", "effects": "unknown",
			"attempts": 3.0, "elapsed_us": 2.5e6, "remedy": "Look.",
		},
	} {
		for name, value := range want {
			if events[event][name] != value {
				t.Errorf("%s: %s is %v", event, name, events[event][name])
			}
		}
	}
}

// A caller may search our stderr for the command's own words.
func TestTheCommandIsNeverQuoted(t *testing.T) {
	for _, format := range []Format{Auto, Text, JSON} {
		if got := toFile(t, Options{Format: format, Verbose: true}, wholeCall); strings.Contains(got, "own words") {
			t.Errorf("%q: %s", format, got)
		}
	}
	s := newScreen(300, 100)
	p := onScreen(s, Options{Verbose: true})
	wholeCall(p)
	if strings.Contains(s.text(), "own words") {
		t.Error(s.text())
	}
	p.Close()
}

func TestQuiet(t *testing.T) {
	for _, format := range []Format{Auto, Text, JSON} {
		if got := toFile(t, Options{Quiet: true, Verbose: true, Format: format}, wholeCall); got != "" {
			t.Errorf("%q: %s", format, got)
		}
	}
	got := toFile(t, Options{Quiet: true}, func(p *Printer) { p.Error(errors.New("outlast: no such policy")) })
	if got != "outlast: no such policy\n" {
		t.Errorf("%q", got)
	}
}

func TestNowhere(t *testing.T) {
	p := New(Options{Verbose: true})
	wholeCall(p)
	p.Error(errors.New("lost"))
	p.Status("waiting")()
	p.Close()
	if p.Writer(os.Stdout) != os.Stdout {
		t.Error("an output is wrapped for nothing")
	}
}

// What is told in the end: what is more than the command's own failure.
func TestFinish(t *testing.T) {
	for _, c := range []struct {
		outcome abi.Outcome
		want    string
	}{
		{abi.Outcome{Type: abi.OutcomeOK, Attempts: 1}, ""},
		{abi.Outcome{Type: abi.OutcomeOK, Attempts: 2, Message: "succeeded"}, "outlast: succeeded\n"},
		{abi.Outcome{Type: abi.OutcomeFailed, Attempts: 1, Message: "failed"}, ""},
		{abi.Outcome{Type: abi.OutcomeFailed, Attempts: 1, Message: "failed", Remedy: "Do."}, "outlast: failed\noutlast: Do.\n"},
		{abi.Outcome{Type: abi.OutcomeFailed, Attempts: 1, Message: "failed", Reason: abi.ReasonStreamed}, "outlast: failed\n"},
		{abi.Outcome{Type: abi.OutcomeIndeterminate, Kind: "failed", Attempts: 1, Message: "may have been"}, ""},
		{abi.Outcome{Type: abi.OutcomeIndeterminate, Kind: "interrupted", Attempts: 1, Message: "may have been"}, "outlast: may have been\n"},
		{abi.Outcome{Type: abi.OutcomeIndeterminate, Kind: "failed", Attempts: 2, Message: "may have been"}, "outlast: may have been\n"},
		{abi.Outcome{Type: abi.OutcomeFailed, Attempts: 2, Message: "failed"}, "outlast: failed\n"},
		{abi.Outcome{Type: abi.OutcomeExhausted, Attempts: 9, Message: "gave up\nand so on"}, "outlast: gave up and so on\n"},
	} {
		if got := toFile(t, Options{}, func(p *Printer) { p.Finish(&c.outcome) }); got != c.want {
			t.Errorf("%+v: %q", c.outcome, got)
		}
	}
	if got := toFile(t, Options{}, func(p *Printer) { p.Finish(nil) }); got != "" {
		t.Errorf("%q", got)
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
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				p.Notice("note %d", n)
				p.Observe(waiting(2, time.Millisecond, time.Second))
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
