package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/cmd/outlast/internal/progress"
	"outlast/host"
)

func open(t *testing.T, o Options) *Recorder {
	t.Helper()
	o.Progress = &progress.State{}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ended(n int64, at time.Duration, ok bool) host.AttemptEnded {
	started := (at - 100*time.Millisecond).Microseconds()
	return host.AttemptEnded{Attempt: n, At: at, OK: ok, Result: abi.Result{StartedUS: &started}}
}

func waiting(at, delay time.Duration) host.Waiting {
	left := 150 * time.Second
	return host.Waiting{Kind: "unavailable", Budget: "unavailable", At: at, Delay: delay, Remaining: &left}
}

// anOutage is a call that was away for 61.5 s and waited 61.3 s of these.
func anOutage(r *Recorder) {
	s := r.options.Progress
	s.Add(ended(1, 3*time.Second, false))
	s.Add(waiting(3100*time.Millisecond, 30*time.Second))
	s.Add(ended(2, 33100*time.Millisecond, false))
	s.Add(waiting(33100*time.Millisecond, 31*time.Second))
	s.Add(ended(3, 64500*time.Millisecond, true))
	s.Add(host.Stopped{At: 64500 * time.Millisecond})
	r.Finish(&abi.Outcome{Type: abi.OutcomeOK, Kind: "unavailable", Attempts: 3})
}

func read1(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRunsAddUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outlast.prom")
	const runs = 3
	before := time.Now().Unix()
	for range runs {
		r := open(t, Options{Path: path, Policy: "omnigraph", Command: "/usr/bin/omnigraph"})
		anOutage(r)
		r.Finish(nil) // does nothing
	}
	first := open(t, Options{Path: path, Policy: "omnigraph", Command: "omnigraph"})
	first.options.Progress.Add(ended(1, time.Second, true))
	first.Finish(&abi.Outcome{Type: abi.OutcomeOK, Attempts: 1})

	text := read1(t, path)
	for _, want := range []string{
		`outlast_calls_total{command="omnigraph",kind="unavailable",outcome="ok",policy="omnigraph"} 3`,
		`outlast_attempts_total{command="omnigraph",kind="unavailable",outcome="ok",policy="omnigraph"} 9`,
		`outlast_retries_total{command="omnigraph",kind="unavailable",outcome="ok",policy="omnigraph"} 6`,
		`outlast_wait_seconds_total{command="omnigraph",kind="unavailable",outcome="ok",policy="omnigraph"} 183.9`,
		`outlast_calls_total{command="omnigraph",kind="none",outcome="ok",policy="omnigraph"} 1`,
		`outlast_retries_total{command="omnigraph",kind="none",outcome="ok",policy="omnigraph"} 0`,
		`outlast_outage_seconds_bucket{command="omnigraph",policy="omnigraph",le="60"} 0`,
		`outlast_outage_seconds_bucket{command="omnigraph",policy="omnigraph",le="65"} 3`,
		`outlast_outage_seconds_bucket{command="omnigraph",policy="omnigraph",le="+Inf"} 3`,
		`outlast_outage_seconds_sum{command="omnigraph",policy="omnigraph"} 184.5`,
		`outlast_outage_seconds_count{command="omnigraph",policy="omnigraph"} 3`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	_, after, _ := strings.Cut(text, `outlast_last_run_timestamp_seconds{command="omnigraph",policy="omnigraph"} `)
	last, err := strconv.ParseInt(strings.TrimSpace(after), 10, 64)
	if err != nil || last < before || last > time.Now().Unix() {
		t.Errorf("%q: %v", after, err)
	}
}

// The measured restarts fall into different buckets, and the window's end has one.
func TestBuckets(t *testing.T) {
	for us, want := range map[int64]string{
		0: "1", 1_000_000: "1", 1_000_001: "2", 52_000_000: "55", 61_000_000: "65", 150_000_000: "150", 150_000_001: "180",
		300_000_000: "300", 300_000_001: "+Inf", maxValue: "+Inf",
	} {
		var h tally
		h.add(us)
		for i, n := range h.Buckets {
			if n != 0 && upTo(i) != want {
				t.Errorf("%d: %s, and not %s", us, upTo(i), want)
			}
		}
	}
}

func TestHowCallsEnd(t *testing.T) {
	for want, finish := range map[string]func(*Recorder){
		`kind="none",outcome="not_run"`:        func(r *Recorder) { r.Finish(nil) },
		`kind="none",outcome="error"`:          func(r *Recorder) { r.options.Progress.Add(ended(1, time.Second, false)); r.Finish(nil) },
		`kind="failed",outcome="failed"`:       func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeFailed, Kind: "failed"}) },
		`kind="crashed",outcome="cancelled"`:   func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeCancelled, Kind: "crashed"}) },
		`kind="conflict",outcome="exhausted"`:  func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeExhausted, Kind: "conflict"}) },
		`kind="unavailable",outcome="ok",poli`: anOutage,
	} {
		path := filepath.Join(t.TempDir(), "x.prom")
		finish(open(t, Options{Path: path, Policy: "p", Command: "c"}))
		if text := read1(t, path); !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestCommandsWithOddNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	for _, name := range []string{`a"b\c`, "new\nline", "Zürich", "bad\xffbyte", "} 1", `\`, "x{y", "#", "/dir/\u2028", ""} {
		r := open(t, Options{Path: path, Policy: "p q", Command: name, Tell: func(f string, a ...any) { t.Errorf(f, a...) }})
		anOutage(r)
	}
	text := read1(t, path)
	if n := strings.Count(text, "\noutlast_calls_total{"); n != 10 {
		t.Errorf("%d:\n%s", n, text)
	}
	for _, name := range []string{`a\"b\\c`, "new line", "Zürich", "bad?byte"} {
		if want := `outlast_calls_total{command="` + name + `",kind="unavailable",outcome="ok",policy="p q"} 1`; !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// Commands with random names fill neither the disk nor the server.
func TestSeriesAreBounded(t *testing.T) {
	c := newCounts()
	us := int64(1)
	for n := range 3 * maxSeries {
		c.add(call{labels: labels{fmt.Sprintf("job-%d", n), "k", "ok", "p"}, attempts: 1, outageUS: &us})
	}
	c.add(call{labels: labels{"job-1", "k", "ok", "p"}, attempts: 1}) // known ones are still counted apart
	text := formatted(t, c)
	if len(c.totals) != maxSeries+1 || len(c.tallies) != maxSeries+1 || len(text) > maxFile/4 {
		t.Errorf("%d, %d, %d bytes", len(c.totals), len(c.tallies), len(text))
	}
	if c.totals[labels{other, other, "ok", other}][calls] != 2*maxSeries || c.totals[labels{"job-1", "k", "ok", "p"}][calls] != 2 {
		t.Error("calls are lost")
	}
	if again, err := parse(text); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("it reads another: %v", err)
	}
}

// A run that ends first may be the second to add.
func TestTheLastRunIsTheLatest(t *testing.T) {
	c := newCounts()
	for _, at := range []int64{5, 7, 6} {
		c.add(call{labels: labels{"c", "k", "ok", "p"}, at: at})
	}
	if got := c.tallies[pair{"c", "p"}].Last; got != 7 {
		t.Error(got)
	}
}

func TestNumbersStopAtTheLargest(t *testing.T) {
	c := newCounts()
	huge := int64(maxValue)
	for range 3 {
		c.add(call{labels: labels{"c", "k", "ok", "p"}, attempts: huge, waitUS: huge, outageUS: &huge, at: huge})
	}
	if again, err := parse(formatted(t, c)); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%v:\n%s", err, c.text())
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("METRICS_TEST_FILE"); path != "" {
		r, err := Open(Options{Path: path, Policy: "p", Command: "c", LockWait: 5 * time.Minute, Progress: &progress.State{}, Tell: func(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }})
		if err != nil {
			panic(err)
		}
		anOutage(r)
		return
	}
	os.Exit(m.Run())
}

// Fifty real processes at once: every one is counted.
func TestManyProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.prom")
	const processes = 50
	var running []*exec.Cmd
	for range processes {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "METRICS_TEST_FILE="+path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	c, err := parse(read1(t, path))
	if err != nil {
		t.Fatal(err)
	}
	want := [len(counters)]int64{processes, 3 * processes, 2 * processes, 61_300_000 * processes}
	if got := c.totals[labels{"c", "unavailable", "ok", "p"}]; got == nil || *got != want {
		t.Errorf("%v, and not %v", got, want)
	}
	if h := c.tallies[pair{"c", "p"}]; h.count() != processes || h.SumUS != 61_500_000*processes {
		t.Errorf("%+v", h)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("%v", entries) // the file and its lock
	}
}

func TestALockThatIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	var told string
	r := open(t, Options{Path: path, LockWait: 20 * time.Millisecond, Tell: func(f string, a ...any) { told = fmt.Sprintf(f, a...) }})
	anOutage(r)
	if told != "--metrics-file: "+path+": another run has held its lock for 20ms; this run is not counted" {
		t.Errorf("%q", told)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was written without the lock")
	}
}

// A file that is not outlast's to the last byte is left alone.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	anOutage(open(t, Options{Path: path, Policy: "p", Command: "c"}))
	own := read1(t, path)
	first := strings.Index(own, "\n") + 1
	for what, text := range map[string]string{
		"another exporter's":    "# HELP node_time_seconds The time.\n# TYPE node_time_seconds gauge\nnode_time_seconds 1\n",
		"a family added":        own + "other_total 1\n",
		"a line cut":            own[:len(own)-1],
		"cut in the middle":     own[:len(own)/2],
		"cut in the first line": own[:first/2],
		"without that line":     own[first:],
		"zeros":                 string(make([]byte, 4096)),
		"a number changed":      strings.Replace(own, `policy="p"} 1`, `policy="p"} 2`, 1),
		"an empty line":         "\n",
		"a comment":             "# written by hand\n",
		"another version's":     strings.Replace(own, "# outlast 1 ", "# outlast 2 ", 1),
	} {
		if text == own {
			t.Fatalf("%s: nothing was changed", what)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var told string
		r := open(t, Options{Path: path, Policy: "p", Command: "c", Tell: func(f string, a ...any) { told = fmt.Sprintf(f, a...) }})
		anOutage(r)
		if !strings.Contains(told, "is damaged, or was written by something else: ") || !strings.HasSuffix(told, "; this run is not counted") {
			t.Errorf("%s: %q", what, told)
		}
		if read1(t, path) != text {
			t.Errorf("%s: the file was changed", what)
		}
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	anOutage(open(t, Options{Path: path, Policy: "p", Command: "c", Tell: func(f string, a ...any) { t.Errorf(f, a...) }}))
	if got := read1(t, path); len(got) != len(own) {
		t.Errorf("an empty one becomes\n%s", got)
	}
}

func TestAFileThatIsTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder.prom")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(dir, "metrics.txt"), filepath.Join(dir, ".prom"), folder, filepath.Join(dir, "no", "x.prom"),
	} {
		if _, err := Open(Options{Path: path}); err == nil || !strings.HasPrefix(err.Error(), "--metrics-file: ") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if r := open(t, Options{}); r.target != "" {
		t.Error(r.target)
	} else {
		anOutage(r)
	}
}

func TestNodeExporterMayRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	anOutage(open(t, Options{Path: path}))
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("%v, %v", err, info.Mode())
	}
}

func drawCounts(t *rapid.T) *counts {
	c := newCounts()
	text := rapid.StringMatching(`[a-c"\\\n{} ,=ü]{0,4}`)
	for range rapid.IntRange(0, 10).Draw(t, "calls") {
		one := call{
			labels:   labels{text.Draw(t, "command"), text.Draw(t, "kind"), text.Draw(t, "outcome"), text.Draw(t, "policy")},
			attempts: rapid.Int64Range(0, 10000).Draw(t, "attempts"),
			waitUS:   rapid.Int64Range(0, 1e12).Draw(t, "wait"),
			at:       rapid.Int64Range(0, 1e10).Draw(t, "at"),
		}
		if rapid.Bool().Draw(t, "away") {
			us := rapid.Int64Range(0, 4e8).Draw(t, "outage")
			one.outageUS = &us
		}
		c.add(one)
	}
	return c
}

// What is written is read back the same.
func TestWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		text := formatted(t, c)
		again, err := parse(text)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%v:\n%s", err, text)
		}
	})
}

func formatted(t interface{ Fatal(...any) }, c *counts) string {
	text, err := format(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
