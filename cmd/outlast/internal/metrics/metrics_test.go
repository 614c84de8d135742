package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/progress"
	"outlast/internal/telemetry"
)

func open(t *testing.T, o Options) *Recorder {
	t.Helper()
	o.Progress = &progress.State{}
	if o.Policy == nil {
		o.Policy = builtIn("omnigraph")
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func builtIn(name string) *host.Policy {
	p, err := host.BuiltIn(name)
	if err != nil {
		panic(err)
	}
	return p
}

// see is what happens to a call.
func see(r *Recorder, events ...host.Event) {
	for _, e := range events {
		r.options.Progress.Add(e)
		r.Observe(e)
	}
}

func ended(n int64, at time.Duration, ok bool) host.AttemptEnded {
	started := (at - 100*time.Millisecond).Microseconds()
	return host.AttemptEnded{Attempt: n, At: at, OK: ok, Result: abi.Result{StartedUS: &started}}
}

func waiting(at, delay time.Duration) host.Waiting {
	left := 153*time.Second - at // of a window that opened after 3 s
	return host.Waiting{Kind: "unavailable", Budget: "unavailable", At: at, Delay: delay, Remaining: &left}
}

// anOutage is a call that was away for 61.5 s and waited 61.3 s of these. The server's
// return cut its first wait short, in vain.
func anOutage(r *Recorder) {
	see(r,
		ended(1, 3*time.Second, false), waiting(3*time.Second, 30*time.Second),
		host.Woken{By: abi.Ready, At: 32 * time.Second}, again(waiting(32*time.Second, time.Second)),
		ended(2, 33100*time.Millisecond, false), waiting(33100*time.Millisecond, 31*time.Second),
		host.InstanceReplaced{},
		ended(3, 64500*time.Millisecond, true), host.Stopped{At: 64500 * time.Millisecond},
	)
	r.options.Progress.Finish(64500 * time.Millisecond)
	r.Finish(&abi.Outcome{Type: abi.OutcomeOK, Kind: "unavailable", Attempts: 3, ElapsedUS: 61_600_000})
}

func again(w host.Waiting) host.Waiting {
	w.Again = true
	return w
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
		r := open(t, Options{Path: path, Command: "/usr/bin/omnigraph"})
		anOutage(r)
		r.Finish(nil) // does nothing
	}
	first := open(t, Options{Path: path, Command: "omnigraph"})
	see(first, ended(1, time.Second, true))
	first.Finish(&abi.Outcome{Type: abi.OutcomeOK, Attempts: 1})

	text := read1(t, path)
	for _, want := range []string{
		`calls_total{policy="omnigraph",command="omnigraph",outcome="ok",kind="unavailable"} 3`,
		`calls_total{policy="omnigraph",command="omnigraph",outcome="ok",kind="none"} 1`,
		`attempts_total{policy="omnigraph",command="omnigraph",ok="false"} 6`,
		`attempts_total{policy="omnigraph",command="omnigraph",ok="true"} 4`,
		`retries_total{policy="omnigraph",command="omnigraph",kind="unavailable",budget="unavailable"} 6`,
		`wakes_total{policy="omnigraph",command="omnigraph"} 3`,
		`vain_wakes_total{policy="omnigraph",command="omnigraph"} 3`,
		`instances_replaced_total{policy="omnigraph",command="omnigraph"} 3`,
		`wait_seconds_total{policy="omnigraph",command="omnigraph"} 183.9`,
		`retried_call_seconds_sum{policy="omnigraph",command="omnigraph",outcome="ok"} 184.8`,
		`retried_call_seconds_count{policy="omnigraph",command="omnigraph",outcome="ok"} 3`,
		`budget_used_ratio_bucket{policy="omnigraph",command="omnigraph",le="0.25"} 0`,
		`budget_used_ratio_bucket{policy="omnigraph",command="omnigraph",le="0.5"} 3`,
		`budget_used_ratio_sum{policy="omnigraph",command="omnigraph"} 1.23`,
		`outage_seconds_bucket{policy="omnigraph",command="omnigraph",le="60"} 0`,
		`outage_seconds_bucket{policy="omnigraph",command="omnigraph",le="65"} 3`,
		`outage_seconds_bucket{policy="omnigraph",command="omnigraph",le="+Inf"} 3`,
		`outage_seconds_sum{policy="omnigraph",command="omnigraph"} 184.5`,
		`outage_seconds_count{policy="omnigraph",command="omnigraph"} 3`,
		`policy_serial{policy="omnigraph",command="omnigraph"} 0`,
	} {
		if !strings.Contains(text, "\noutlast_"+want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	_, after, _ := strings.Cut(text, `outlast_last_run_timestamp_seconds{policy="omnigraph",command="omnigraph"} `)
	last, err := strconv.ParseInt(strings.TrimSpace(after), 10, 64)
	if err != nil || last < before || last > time.Now().Unix() {
		t.Errorf("%q: %v", after, err)
	}
}

// The measured restarts fall into different buckets, and the window's end has one.
func TestBuckets(t *testing.T) {
	for seconds, want := range map[float64]int{
		0: 0, 1: 0, 1.000001: 1, 52: 8, 61: 10, 150: 15, 150.000001: 16, 300: 17, 300.000001: 18, maxValue: 18,
	} {
		c := counts{}
		c.take(outages, seconds, "p", "c")
		if got := slices.Index(c.of(outages, []string{"p", "c"}).Buckets, 1); got != want {
			t.Errorf("%v is in bucket %d, and not %d", seconds, got, want)
		}
	}
}

func TestHowCallsEnd(t *testing.T) {
	for want, finish := range map[string]func(*Recorder){
		`outcome="not_run",kind="none"`:       func(r *Recorder) { r.Finish(nil) },
		`outcome="error",kind="none"`:         func(r *Recorder) { see(r, ended(1, time.Second, false)); r.Finish(nil) },
		`outcome="failed",kind="failed"`:      func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeFailed, Kind: "failed"}) },
		`outcome="cancelled",kind="crashed"`:  func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeCancelled, Kind: "crashed"}) },
		`outcome="exhausted",kind="conflict"`: func(r *Recorder) { r.Finish(&abi.Outcome{Type: abi.OutcomeExhausted, Kind: "conflict"}) },
		`outcome="ok",kind="unavailable"`:     anOutage,
	} {
		path := filepath.Join(t.TempDir(), "x.prom")
		finish(open(t, Options{Path: path, Command: "c"}))
		if text := read1(t, path); !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestCommandsWithOddNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	for _, name := range []string{`a"b\c`, "new\nline", "Zürich", "bad\xffbyte", "} 1", `\`, "x{y", "#", "/dir/\u2028", ""} {
		r := open(t, Options{Path: path, Command: name, Tell: func(f string, a ...any) { t.Errorf(f, a...) }})
		anOutage(r)
	}
	text := read1(t, path)
	if n := strings.Count(text, "\noutlast_calls_total{"); n != 10 {
		t.Errorf("%d:\n%s", n, text)
	}
	for _, name := range []string{`a\"b\\c`, "new line", "Zürich", "bad?byte"} {
		if want := `outlast_calls_total{policy="omnigraph",command="` + name + `",outcome="ok",kind="unavailable"} 1`; !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// Commands with random names fill neither the disk nor the server.
func TestSeriesAreBounded(t *testing.T) {
	c := counts{}
	for n := range 3 * maxSeries {
		for _, m := range families {
			labels := append([]string{"p", fmt.Sprintf("job-%d", n)}, m.Labels...)
			c.take(m, 1, labels...)
		}
	}
	c.take(telemetry.Calls, 1, "p", "job-1", "outcome", "kind") // known ones are still counted apart
	text := formatted(t, c)
	if n := len(c[outages.Name]); n != maxSeries+1 || len(text) > maxFile/2 {
		t.Errorf("%d series, %d bytes", n, len(text))
	}
	for want, of := range map[int64][]string{2 * maxSeries: {other, other, "outcome", other}, 2: {"p", "job-1", "outcome", "kind"}} {
		if got := c.of(telemetry.Calls, of).Sum; got != want {
			t.Errorf("%q: %d", of, got)
		}
	}
	if again, err := parse(text); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("it reads another: %v", err)
	}
}

// A run that ends first may be the second to add.
func TestTheLastRunIsTheLatest(t *testing.T) {
	c := counts{}
	for _, at := range []float64{5, 7, 6} {
		c.take(lastRun, at, "p", "c")
	}
	if got := c.of(lastRun, []string{"p", "c"}).Sum; got != 7 {
		t.Error(got)
	}
}

func TestNumbersStopAtTheLargest(t *testing.T) {
	c := counts{}
	for range 3 {
		for _, m := range families {
			c.take(m, maxValue, append([]string{"p", "c"}, m.Labels...)...)
		}
	}
	for name, all := range c {
		for _, s := range all {
			if s.Sum != maxValue {
				t.Errorf("%s: %d", name, s.Sum)
			}
		}
	}
	if again, err := parse(formatted(t, c)); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%v:\n%s", err, c.text())
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("METRICS_TEST_FILE"); path != "" {
		r, err := Open(Options{Path: path, Command: "c", LockWait: 5 * time.Minute, Policy: builtIn("omnigraph"), Progress: &progress.State{}, Tell: func(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }})
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
	of := []string{"omnigraph", "c"}
	if n := c.of(telemetry.Wait, of).Sum; n != 61_300_000*processes {
		t.Errorf("waited %d", n)
	}
	if h := c.of(outages, of); h.count() != processes || h.Sum != 61_500_000*processes {
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
	anOutage(open(t, Options{Path: path, Command: "c"}))
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
		"a number changed":      strings.Replace(own, `kind="unavailable"} 1`, `kind="unavailable"} 2`, 1),
		"an empty line":         "\n",
		"a comment":             "# written by hand\n",
		"another version's":     strings.Replace(own, "# outlast 2 ", "# outlast 3 ", 1),
		"an earlier version's":  "# outlast 1 {}\n",
	} {
		if text == own {
			t.Fatalf("%s: nothing was changed", what)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var told string
		r := open(t, Options{Path: path, Command: "c", Tell: func(f string, a ...any) { told = fmt.Sprintf(f, a...) }})
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
	anOutage(open(t, Options{Path: path, Command: "c", Tell: func(f string, a ...any) { t.Errorf(f, a...) }}))
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

func drawCounts(t *rapid.T) counts {
	c := counts{}
	text := rapid.StringMatching(`[a-c"\\\n{} ,=ü]{0,4}`)
	for range rapid.IntRange(0, 10).Draw(t, "values") {
		m := rapid.SampledFrom(families).Draw(t, "metric")
		c.take(m, rapid.Float64Range(0, 1e10).Draw(t, "value"), rapid.SliceOfN(text, len(names(m)), len(names(m))).Draw(t, "labels")...)
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

func formatted(t interface{ Fatal(...any) }, c counts) string {
	text, err := format(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
