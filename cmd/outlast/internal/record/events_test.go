package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// Every event has a name of its own and fits its schema.
func TestEveryEvent(t *testing.T) {
	events, _ := compiled(t)
	left := 150 * time.Second
	seen := map[string]bool{}
	loading, err := json.Marshal(describe(host.LeftOut{NotReady: true}))
	if err != nil || !bytes.Contains(loading, []byte(`"not_ready":true`)) {
		t.Errorf("a server that loads: %s, %v", loading, err)
	}
	for _, e := range []host.Event{
		host.AttemptEnded{Attempt: 1, Result: abi.Result{TimedOut: true, Streamed: true, Signal: "SIGTERM", Stderr: abi.Clip(secretText)}},
		host.Waiting{Kind: "k", Budget: "b", Attempt: 2, Remaining: &left, Watched: abi.Ready, Again: true},
		host.Woken{By: abi.Accepting}, host.LeftOut{NotReady: true}, host.Unwatched{Why: "a proxy"},
		host.Repairing{Kind: "k", Force: true}, host.Loaded{How: "compiled", Why: "why"},
		host.InstanceReplaced{Err: &abi.Error{Code: "internal", Message: secretText}},
		host.Stopped{Outcome: abi.Outcome{Type: abi.OutcomeFailed, LastError: secretText, Message: "m", Kind: "failed", Effects: abi.EffectsUnknown, Attempts: 1}},
	} {
		l := describe(e)
		l.Time, l.Run = "2026-01-02T03:04:05.000000006Z", runID(time.Unix(1, 2000))
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := events.Validate(parsed(t, text)); err != nil || seen[l.Event] || l.Event == "unknown" || bytes.Contains(text, []byte("own words")) {
			t.Errorf("%v: %s", err, text)
		}
		seen[l.Event] = true
	}
	if l := describe(nil); l.Event != "unknown" {
		t.Errorf("%+v", l)
	}
}

func TestTwoRunsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(path, []byte(`{"half a li`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Open(Options{Policy: omnigraph(), Events: path})
		if err != nil {
			t.Fatal(err)
		}
		r.Finish(End{})
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 5 || lines[0] != `{"half a li` {
		t.Errorf("%s", text)
	}
	for _, l := range lines[1:] {
		if !json.Valid([]byte(l)) {
			t.Errorf("%s", l)
		}
	}
}

const linesEach = 200

// appendMany is one of many processes that write into one file.
func appendMany(path string) {
	r, err := Open(Options{Policy: omnigraph(), Events: path, Command: strings.Repeat("x", 900), Tell: func(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }})
	if err != nil {
		panic(err)
	}
	for n := range linesEach {
		r.Observe(host.Waiting{Kind: "unavailable", Budget: "unavailable", Attempt: int64(n + 1)})
	}
	r.Finish(End{})
}

// Another process is in the middle of its line when this one begins.
func TestALineThatIsJustWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(path, []byte(`{"event":"waiting"`), 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(settling/5, func() {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		file.WriteString("}\n")
		file.Close()
	})
	events, err := openEvents(path)
	if err != nil {
		t.Fatal(err)
	}
	defer events.file.Close()
	if events.torn {
		t.Error("a line that has got its end is called torn")
	}
}

func TestProcessesShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const processes = 8
	var started []*exec.Cmd
	for range processes {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "RECORD_TEST_EVENTS="+path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, c)
	}
	for _, c := range started {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	next := map[string]int{}
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, scanner.Bytes())
		}
		if l.Event == "waiting" {
			if next[l.Run]++; l.Attempt != int64(next[l.Run]) {
				t.Fatalf("%s: attempt %d is the line %d", l.Run, l.Attempt, next[l.Run])
			}
		}
	}
	for run, n := range next {
		if n != linesEach {
			t.Errorf("%s has %d lines", run, n)
		}
	}
	if len(next) != processes {
		t.Errorf("%d runs", len(next))
	}
}

// A file that takes nothing is told of once, and changes nothing else.
func TestAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	var told []string
	o := Options{Policy: omnigraph(), Events: "/dev/full", Report: "/dev/full", Tell: func(f string, a ...any) { told = append(told, fmt.Sprintf(f, a...)) }}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Observe(host.AttemptEnded{Attempt: 1})
	}
	r.Finish(End{})
	if len(told) != 2 || !strings.HasPrefix(told[0], "--events: ") || !strings.HasPrefix(told[1], "--report: ") || !strings.Contains(told[1], "no space") {
		t.Errorf("%q", told)
	}
}

// The longest line still goes into a pipe in one piece.
func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat(`"`, 5000)
	r := &Recorder{options: Options{Command: long, Call: host.Call{Label: long[:256]}, Policy: omnigraph(), PluginDigest: omnigraph().Digest()}}
	for _, l := range []line{
		r.startedLine(), describe(host.Unwatched{Why: long}), describe(host.Loaded{Why: long}),
		describe(host.InstanceReplaced{Err: errors.New(long)}),
	} {
		l.Time, l.Run = time.Now().Format(time.RFC3339Nano), runID(time.Now())
		if text, err := json.Marshal(l); err != nil || len(text) >= 4096 {
			t.Errorf("%v: %d bytes", err, len(text))
		}
	}
}
