package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/internal/progress"
)

// plugin is the real one, for all tests.
var plugin = sync.OnceValue(func() *host.Plugin {
	p, err := host.Open(host.WithInterpreter())
	if err != nil {
		panic(err)
	}
	return p
})

// secretText stands for whatever the command has printed.
const secretText = "the command's own words"

const refusedReport = `Error: 
   0: error sending request for url (http://127.0.0.1:8080/graphs/people/query)
   1: client error (Connect)
   2: tcp connect error
   3: Connection refused (os error 111)

Location:
   ` + secretText + `
`

func exited(code int64, stderr string) abi.Result {
	return abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr)}
}

func reportOf(cause string) abi.Result {
	return exited(1, "Error: \n   0: "+cause+"\n\nLocation:\n   "+secretText+"\n")
}

// recorded is what a call leaves behind.
type recorded struct {
	lines  []map[string]any
	report map[string]any
	told   []string
}

// record drives a call through the real plugin on a virtual clock, and reads
// what is recorded of it. Both files are checked against their schemas.
func record(t *testing.T, task *host.Task, finish func(*Recorder, *abi.Outcome, error)) recorded {
	t.Helper()
	clock := task.Clock.(*virtual.Clock)
	var out recorded
	o := Options{
		Events: filepath.Join(t.TempDir(), "events"), Report: filepath.Join(t.TempDir(), "report"),
		Call: task.Call, Policy: task.Policy, PluginDigest: "sha256:" + strings.Repeat("0", 64), Command: "omnigraph", Progress: &progress.State{Started: task.Call.Started},
		Tell: func(format string, args ...any) { out.told = append(out.told, fmt.Sprintf(format, args...)) },
		Now:  clock.Now,
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	task.Observe = observer(r)
	outcome, err := plugin().RunInPlugin(t.Context(), task)
	if outcome != nil {
		err = nil
	}
	finish(r, outcome, err)
	finish(r, outcome, err) // does nothing
	out.read(t, &o)
	return out
}

func (out *recorded) read(t *testing.T, o *Options) {
	t.Helper()
	events, report := compiled(t)
	text, err := os.ReadFile(o.Events)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if err := events.Validate(parsed(t, line)); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		out.lines = append(out.lines, m)
	}
	whole, err := os.ReadFile(o.Report)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(parsed(t, whole)); err != nil {
		t.Errorf("%v: %s", err, whole)
	}
	if err := json.Unmarshal(whole, &out.report); err != nil {
		t.Fatal(err)
	}
	if s := string(text) + string(whole); strings.Contains(s, "own words") || strings.Contains(s, "127.0.0.1") {
		t.Errorf("the command is quoted:\n%s", s)
	}
}

func (out *recorded) events() string {
	var names []string
	for _, l := range out.lines {
		names = append(names, l["event"].(string))
	}
	return strings.Join(names, " ")
}

func ended(code int) func(*Recorder, *abi.Outcome, error) {
	return func(r *Recorder, o *abi.Outcome, err error) {
		r.options.Progress.Finish(r.options.Now())
		r.Finish(End{Outcome: o, Err: err, ExitCode: code})
	}
}

// observer passes the events on as a call does.
func observer(r *Recorder) host.Observer {
	return func(e host.Event) {
		r.options.Progress.Add(e)
		r.Observe(e)
	}
}

// script is a task whose attempts end as told, each after 100 ms.
var omnigraph = sync.OnceValue(func() *host.Policy {
	p, err := host.BuiltIn("omnigraph")
	if err != nil {
		panic(err)
	}
	return p
})

func script(call host.Call, results ...abi.Result) *host.Task {
	clock := &virtual.Clock{}
	clock.Advance(time.Second)
	call.Started, call.Seed = clock.Now(), new(int64)
	clock.Advance(time.Second) // for a lock, say
	return &host.Task{Policy: omnigraph(), Call: call, Clock: clock, Attempt: func(_ context.Context, n int64) (abi.Result, error) {
		clock.Advance(100 * time.Millisecond)
		return results[min(int(n), len(results))-1], nil
	}}
}

func (out *recorded) check(t *testing.T, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if !reflect.DeepEqual(out.report[name], value) {
			t.Errorf("%s is %v, and not %v", name, out.report[name], value)
		}
	}
}

func TestAnOutage(t *testing.T) {
	out := record(t, script(host.Call{Label: "query", Remote: true, Read: true, Budget: time.Hour}, exited(1, refusedReport), exited(1, refusedReport), exited(0, "")), ended(0))
	if got := out.events(); got != "started attempt_ended plugin_loaded waiting attempt_ended waiting attempt_ended stopped finished" {
		t.Error(got)
	}
	run := out.report["run"].(string)
	if !strings.HasPrefix(run, fmt.Sprint(os.Getpid(), "-")) {
		t.Error(run)
	}
	for _, l := range out.lines {
		if l["run"] != run {
			t.Errorf("%v", l)
		}
	}
	attempts := out.report["attempts"].([]any)
	waited := out.report["waited_us"].(float64)
	out.check(t, map[string]any{
		"outcome": "ok", "kind": "unavailable", "effects": nil, "exit_code": 0.0, "command": "omnigraph",
		"elapsed_us": 1_300_000 + waited,
		"call":       map[string]any{"label": "query", "read": true, "remote": true, "budget_us": 3.6e9},
		"policy":     map[string]any{"name": "omnigraph", "digest": omnigraph().Digest()},
		"budgets": []any{map[string]any{
			"name": "unavailable", "max_wait_us": 150e6, "attempts": 2.0, "waited_us": waited,
		}},
	})
	first, last := attempts[0].(map[string]any), attempts[2].(map[string]any)
	if len(attempts) != 3 || first["started_us"] != 1e6 || first["ended_us"] != 1.1e6 || first["kind"] != "unavailable" || first["exit_code"] != 1.0 ||
		last["ok"] != true || last["kind"] != nil || last["ended_us"] != out.report["elapsed_us"] {
		t.Errorf("%v", attempts)
	}
	if waited < 1.5e6 || waited > 1.7e6 { // 0.5 s and 1 s, and up to a tenth more
		t.Error(waited)
	}
}

func TestAWriteThatMayHaveBeenApplied(t *testing.T) {
	broken := exited(1, "Error: \n   0: error sending request for url (http://127.0.0.1:1/)\n   1: client error (SendRequest)\n   2: connection closed before message completed\n\nLocation:\n")
	out := record(t, script(host.Call{Label: "load", Remote: true}, broken), ended(1))
	out.check(t, map[string]any{"outcome": "indeterminate", "kind": "interrupted", "effects": "unknown", "exit_code": 1.0, "waited_us": 0.0, "budgets": []any{}})
	if out.report["remedy"] == nil || out.report["message"] == nil {
		t.Errorf("%v", out.report)
	}
}

func TestAnExhaustedBudget(t *testing.T) {
	out := record(t, script(host.Call{Label: "query", Remote: true, Read: true}, exited(1, refusedReport)), ended(1))
	out.check(t, map[string]any{"outcome": "exhausted", "reason": "window", "budget": "unavailable", "kind": "unavailable", "effects": "none"})
	b := out.report["budgets"].([]any)[0].(map[string]any)
	n := float64(len(out.report["attempts"].([]any)))
	between := (n - 2) * 1e5 // what the attempts between the first and the last took
	if b["attempts"] != n || b["waited_us"] != out.report["waited_us"] || b["waited_us"].(float64)+between != 150e6 {
		t.Errorf("%v, %v attempts", b, n)
	}
}

func TestARepair(t *testing.T) {
	task := script(host.Call{Label: "load"}, reportOf("dataset for node type 'Person' is at Lance HEAD version 3, ahead of published dataset version 2; run `omnigraph repair` before writing"), exited(0, ""))
	task.Repair = func(context.Context, bool) (abi.Result, error) {
		task.Clock.(*virtual.Clock).Advance(time.Minute)
		return exited(0, ""), nil
	}
	out := record(t, task, ended(0))
	if !strings.Contains(out.events(), "repairing") {
		t.Fatal(out.events())
	}
	out.check(t, map[string]any{"repairs": 1.0, "waited_us": 0.0, "kind": "needs_repair"})
}

func TestAnInterruptedWait(t *testing.T) {
	task := script(host.Call{Label: "query", Remote: true, Read: true}, exited(1, refusedReport))
	ctx, cancel := context.WithCancel(t.Context())
	plain := task.Attempt
	task.Attempt = func(c context.Context, n int64) (abi.Result, error) {
		defer cancel()
		return plain(c, n)
	}
	o := Options{
		Events: filepath.Join(t.TempDir(), "events"), Report: filepath.Join(t.TempDir(), "report"),
		Call: task.Call, Policy: task.Policy, Now: task.Clock.Now,
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	task.Observe = observer(r)
	outcome, _ := plugin().RunInPlugin(ctx, task)
	r.Finish(End{Outcome: outcome, ExitCode: 130})
	var out recorded
	out.read(t, &o)
	out.check(t, map[string]any{"outcome": "cancelled", "exit_code": 130.0})
}

// However a call ends, there is a report.
func TestWithoutAnOutcome(t *testing.T) {
	notFound := errors.New("outlast: nosuch: no such file or directory")
	task := script(host.Call{Label: "nosuch"})
	task.Attempt = func(context.Context, int64) (abi.Result, error) { return abi.Result{}, notFound }
	out := record(t, task, ended(127))
	if got := out.events(); got != "started finished" {
		t.Error(got)
	}
	out.check(t, map[string]any{"outcome": "not_run", "effects": "none", "exit_code": 127.0, "error": "nosuch: no such file or directory", "attempts": []any{}})

	for _, read := range []bool{false, true} {
		task := script(host.Call{Label: "load", Remote: true, Read: read}, exited(1, refusedReport))
		first := task.Attempt
		task.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
			if n > 1 {
				return abi.Result{}, notFound
			}
			return first(ctx, n)
		}
		effects := map[bool]string{false: "unknown", true: "none"}[read]
		out := record(t, task, ended(127))
		out.check(t, map[string]any{"outcome": "error", "effects": effects, "exit_code": 127.0})
		if l := out.lines[len(out.lines)-1]; l["event"] != "finished" || l["exit_code"] != 127.0 || l["error"] == nil {
			t.Errorf("%v", l)
		}
	}
}

func TestNothingIsRecorded(t *testing.T) {
	r, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Observe(host.AttemptEnded{Attempt: 1})
	r.Finish(End{})
	if r.run != "" {
		t.Errorf("%+v", r)
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("RECORD_TEST_EVENTS"); path != "" {
		appendMany(path)
		return
	}
	os.Exit(m.Run())
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "folder")
	for _, path := range []string{missing, dir} {
		for name, o := range map[string]Options{"--events": {Events: path}, "--report": {Report: path}} {
			if _, err := Open(o); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%s %s: %v", name, path, err)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v", entries)
	}
}

func TestTheReportReplacesAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	if err := os.WriteFile(path, []byte(strings.Repeat("old", 10000)), 0o640); err != nil {
		t.Fatal(err)
	}
	before, err := os.Open(path) // a reader has all of the old one
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	r, err := Open(Options{Policy: omnigraph(), Report: path})
	if err != nil {
		t.Fatal(err)
	}
	r.Finish(End{})
	if old, err := io.ReadAll(before); err != nil || len(old) != 30000 {
		t.Errorf("%v, %d bytes", err, len(old))
	}
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) {
		t.Errorf("%v: %s", err, text)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", err, info.Mode())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
