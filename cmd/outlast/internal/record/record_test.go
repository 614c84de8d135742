package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"outlast/abi"
	"outlast/abi/schema"
	"outlast/cmd/outlast/internal/progress"
	"outlast/host"
	"outlast/host/virtual"
)

const schemas = "https://outlast.example/abi/1/"

// compiled are the schemas of the two files.
func compiled(t *testing.T) (events, report *jsonschema.Schema) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	names, err := fs.Glob(schema.Files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(schemas+name, parsed(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	return c.MustCompile(schemas + "log-event.json"), c.MustCompile(schemas + "report.json")
}

func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return v
}

// plugin is the real one, for all tests.
var plugin = sync.OnceValue(func() *host.Plugin {
	p, err := host.Open(host.WithCacheDir(""), host.WithInterpreter())
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
func script(call host.Call, results ...abi.Result) *host.Task {
	clock := &virtual.Clock{}
	clock.Advance(time.Second)
	call.Started, call.Seed = clock.Now(), new(int64)
	clock.Advance(time.Second) // for a lock, say
	return &host.Task{Call: call, Clock: clock, Attempt: func(_ context.Context, n int64) (abi.Result, error) {
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
		"policy":     map[string]any{"name": "omnigraph", "digest": host.Default().Digest()},
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
		Call: task.Call, Now: task.Clock.Now,
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	task.Observe = observer(r)
	outcome, err := plugin().RunInPlugin(ctx, task)
	r.Finish(End{Outcome: outcome, Err: err, ExitCode: 130})
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
		host.Repairing{Kind: "k", Force: true}, host.Loaded{How: "cached", Why: "why"},
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

// The schemas have each member that is written, and no other.
func TestSchemasNameEveryMember(t *testing.T) {
	for file, form := range map[string]any{"log-event.json": line{}, "report.json": report{}} {
		text, err := schema.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		sameMembers(t, file, s, reflect.TypeOf(form))
	}
}

func sameMembers(t *testing.T, path string, s map[string]any, form reflect.Type) {
	t.Helper()
	properties, _ := s["properties"].(map[string]any)
	names := map[string]bool{}
	for i := range form.NumField() {
		name, _, _ := strings.Cut(form.Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		names[name] = true
		member, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s does not have %s", path, name)
			continue
		}
		inner := form.Field(i).Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
			member, _ = member["items"].(map[string]any)
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && name != "plugin" {
			sameMembers(t, path+"."+name, member, inner)
		}
	}
	for name := range properties {
		if !names[name] {
			t.Errorf("%s has %s, which is not written", path, name)
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

func TestTwoRunsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(path, []byte(`{"half a li`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Open(Options{Events: path})
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

func TestMain(m *testing.M) {
	if path := os.Getenv("RECORD_TEST_EVENTS"); path != "" {
		appendMany(path)
		return
	}
	os.Exit(m.Run())
}

const linesEach = 200

// appendMany is one of many processes that write into one file.
func appendMany(path string) {
	r, err := Open(Options{Events: path, Command: strings.Repeat("x", 900), Tell: func(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }})
	if err != nil {
		panic(err)
	}
	for n := range linesEach {
		r.Observe(host.Waiting{Kind: "unavailable", Budget: "unavailable", Attempt: int64(n + 1)})
	}
	r.Finish(End{})
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
	o := Options{Events: "/dev/full", Report: "/dev/full", Tell: func(f string, a ...any) { told = append(told, fmt.Sprintf(f, a...)) }}
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
	r, err := Open(Options{Report: path})
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

// The longest line still goes into a pipe in one piece.
func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat(`"`, 5000)
	r := &Recorder{options: Options{Command: long, Call: host.Call{Label: long[:256]}, Policy: host.Default(), PluginDigest: host.Default().Digest()}}
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
