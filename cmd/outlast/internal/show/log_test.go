package show

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/progress"
)

// toFile is what a Printer with these options writes to a file.
func toFile(t *testing.T, o Options, use func(*Printer)) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o.Out, o.Progress = f, &progress.State{}
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
	p.see(host.AttemptEnded{Attempt: 1, Result: result})
	p.see(host.Loaded{How: "interpreted", Why: "the memory limit leaves 96 MiB, and compiling the plugin takes 160", Took: time.Second})
	p.see(host.InstanceReplaced{Err: &abi.Error{Code: "internal", Message: secretText}})
	p.see(waiting(2, 500*time.Millisecond, 150*time.Second))
	p.Attempting(2)
	p.see(host.AttemptEnded{Attempt: 2, Result: abi.Result{Signal: "SIGKILL", Message: abi.Clip(secretText)}})
	p.see(host.Unwatched{Why: "a proxy is in the way"})
	p.see(host.LeftOut{})
	p.see(host.LeftOut{NotReady: true})
	again := waiting(2, 2*time.Second, 149*time.Second)
	again.Again, again.Watched = true, abi.Ready
	p.see(again)
	p.see(host.Woken{By: abi.Ready})
	p.see(host.Waiting{Kind: "conflict", Budget: "conflict", Attempt: 3, Delay: time.Second})
	p.see(host.AttemptEnded{Attempt: 3, Result: abi.Result{TimedOut: true}})
	p.see(host.Repairing{Kind: "needs_repair", Force: true})
	o := abi.Outcome{
		Type: abi.OutcomeIndeterminate, Kind: "interrupted", Effects: abi.EffectsUnknown, Attempts: 3, ElapsedUS: 2_500_000,
		Message: "interrupted after 3 attempts over 2.5 s; it may have been applied", Remedy: "Look.",
		LastError: secretText, History: []abi.HistoryEntry{{Attempt: 1, Kind: "unavailable"}},
	}
	p.see(host.Stopped{Outcome: o})
	p.Notice("host name %q does not resolve", "grahp")
	p.Finish(&o)
}

// Down and loading are told once each, as they come.
func TestLoadingIsTold(t *testing.T) {
	got := toFile(t, Options{Watched: "http://graph:8080/readyz"}, func(p *Printer) {
		for _, notReady := range []bool{false, false, true, true, false} {
			p.see(host.LeftOut{NotReady: notReady})
		}
	})
	if strings.Count(got, "is seen to be down") != 1 || strings.Count(got, "is there, and not ready yet") != 1 {
		t.Errorf("told:\n%s", got)
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
			p.see(host.InstanceReplaced{Err: err})
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
outlast: http://graph:80/healthz is there, and not ready yet: the next attempt is made when it is ready, or when one is due all the same
outlast: the server is ready again
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
		"outlast: the plugin was loaded (interpreted) in 1 s: the memory limit leaves 96 MiB, and compiling the plugin takes 160\n",
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

// A caller may search stderr for the command's own words.
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
	p := New(Options{Verbose: true, Progress: &progress.State{}})
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
