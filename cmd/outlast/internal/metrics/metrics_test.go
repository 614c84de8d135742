package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/cmd/outlast/internal/progress"
	"outlast/host"
)

// families are what Prometheus' own parser makes of a text, which its linter
// must like too.
func families(t interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return all
}

// value is a sample with these labels, as Prometheus reads it.
func value(t *testing.T, f *dto.MetricFamily, labels ...string) *dto.Metric {
	t.Helper()
	for _, m := range f.GetMetric() {
		var got []string
		for _, l := range m.GetLabel() {
			got = append(got, l.GetName()+"="+l.GetValue())
		}
		if reflect.DeepEqual(got, labels) {
			return m
		}
	}
	t.Fatalf("%s has no %q: %v", f.GetName(), labels, f)
	return nil
}

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

	all := families(t, read1(t, path))
	labels := []string{"command=omnigraph", "kind=unavailable", "outcome=ok", "policy=omnigraph"}
	for name, want := range map[string]float64{
		"outlast_calls_total": runs, "outlast_attempts_total": 3 * runs, "outlast_retries_total": 2 * runs,
		"outlast_wait_seconds_total": 61.3 * runs,
	} {
		if got := value(t, all[name], labels...).GetCounter().GetValue(); fmt.Sprint(got) != fmt.Sprint(want) && got-want > 1e-9 {
			t.Errorf("%s is %v, and not %v", name, got, want)
		}
	}
	labels[1] = "kind=none"
	if got := value(t, all["outlast_calls_total"], labels...).GetCounter().GetValue(); got != 1 {
		t.Error(got)
	}
	if got := value(t, all["outlast_retries_total"], labels...).GetCounter().GetValue(); got != 0 {
		t.Error(got)
	}
	h := value(t, all["outlast_outage_seconds"], "command=omnigraph", "policy=omnigraph").GetHistogram()
	if h.GetSampleCount() != runs || h.GetSampleSum() != 61.5*runs {
		t.Errorf("%v", h)
	}
	for _, b := range h.GetBucket() {
		if want := map[bool]uint64{true: runs, false: 0}[b.GetUpperBound() >= 65]; b.GetCumulativeCount() != want {
			t.Errorf("%v", b)
		}
	}
	last := value(t, all["outlast_last_run_timestamp_seconds"], "command=omnigraph", "policy=omnigraph").GetGauge().GetValue()
	if last < float64(before) || last > float64(time.Now().Unix()) {
		t.Error(last)
	}
}

// The measured restarts fall into different buckets, and the window's end has one.
func TestBuckets(t *testing.T) {
	for us, want := range map[int64]string{
		0: "1", 1_000_000: "1", 1_000_001: "2", 52_000_000: "55", 61_000_000: "65", 150_000_000: "150", 150_000_001: "180",
		300_000_000: "300", 300_000_001: "+Inf", maxValue: "+Inf",
	} {
		var h histogram
		h.add(us)
		for i, n := range h.buckets {
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
	f := families(t, read1(t, path))["outlast_calls_total"]
	if len(f.GetMetric()) != 10 {
		t.Errorf("%v", f)
	}
	for _, name := range []string{`a"b\c`, "new line", "Zürich", "bad?byte"} {
		value(t, f, "command="+name, "kind=unavailable", "outcome=ok", "policy=p q")
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
	text := string(c.text())
	if len(c.totals) != maxSeries+1 || len(c.outages) != maxSeries+1 || len(text) > maxFile/4 {
		t.Errorf("%d, %d, %d bytes", len(c.totals), len(c.outages), len(text))
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
	if got := c.last[pair{"c", "p"}]; got != 7 {
		t.Error(got)
	}
}

func TestNumbersStopAtTheLargest(t *testing.T) {
	c := newCounts()
	huge := int64(maxValue)
	for range 3 {
		c.add(call{labels: labels{"c", "k", "ok", "p"}, attempts: huge, waitUS: huge, outageUS: &huge, at: huge})
	}
	if again, err := parse(string(c.text())); err != nil || !reflect.DeepEqual(again, c) {
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
	if h := c.outages[pair{"c", "p"}]; h.count() != processes || h.sumUS != 61_500_000*processes {
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

const aSample = `outlast_calls_total{command="c",kind="none",outcome="ok",policy="p"} `

// A file that is not fully understood is left alone.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prom")
	anOutage(open(t, Options{Path: path, Policy: "p", Command: "c"}))
	ours := read1(t, path)
	bucket := strings.Index(ours, "outlast_outage_seconds_bucket")
	for what, text := range map[string]string{
		"another exporter's":    "# HELP node_time_seconds The time.\n# TYPE node_time_seconds gauge\nnode_time_seconds 1\n",
		"a family added":        ours + "other_total 1\n",
		"a family of a newer":   ours + `outlast_new_total{command="c"} 1` + "\n",
		"a line cut":            ours[:len(ours)-1],
		"cut in the middle":     ours[:bucket+100],
		"cut between lines":     ours[:bucket+strings.Index(ours[bucket:], "\n")+1],
		"a bucket gone":         ours[:bucket] + ours[bucket+strings.Index(ours[bucket:], "\n")+1:],
		"zeros":                 string(make([]byte, 4096)),
		"zeros and a newline":   string(make([]byte, 4096)) + "\n",
		"no UTF-8":              strings.ReplaceAll(ours, `"c"`, "\"\xff\""),
		"twice":                 ours + aSample + "1\n" + aSample + "1\n",
		"no number":             aSample + "x\n",
		"a negative":            aSample + "-1\n",
		"a fraction":            aSample + "1.5\n",
		"an exponent":           aSample + "1e3\n",
		"a huge number":         aSample + "9007199254740992\n",
		"a timestamp":           aSample + "1 1700000000\n",
		"another label":         strings.Replace(aSample, "kind", "kinds", 1) + "1\n",
		"a label without quote": `outlast_calls_total{command=c} 1` + "\n",
		"an empty line":         "\n",
		"another type":          "# TYPE outlast_calls_total gauge\n",
		"a comment":             "# written by hand\n",
		"a wrong count":         strings.Replace(ours, `outlast_outage_seconds_count{command="c",policy="p"} 1`, `outlast_outage_seconds_count{command="c",policy="p"} 2`, 1),
		"a falling middle":      strings.Replace(ours, `le="70"} 1`, `le="70"} 0`, 1),
		"a falling bucket":      strings.Replace(ours, `le="+Inf"} 1`, `le="+Inf"} 0`, 1),
		"too many digits":       `outlast_wait_seconds_total{command="c",kind="none",outcome="ok",policy="p"} 0.0000001` + "\n",
	} {
		if text == ours {
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
	for what, text := range map[string]string{"empty": "", "an older version's": aSample + "7\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		anOutage(open(t, Options{Path: path, Policy: "p", Command: "c", Tell: func(f string, a ...any) { t.Errorf(what+": "+f, a...) }}))
		if got := read1(t, path); !strings.HasPrefix(got, "# HELP") || !strings.Contains(got, text) {
			t.Errorf("%s:\n%s", what, got)
		}
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

// What is written is read back the same, and Prometheus' own parser reads the
// same numbers.
func TestWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		text := string(c.text())
		again, err := parse(text)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%v:\n%s", err, text)
		}
		asPrometheus(t, c, text)
	})
}

// asPrometheus compares counts with what Prometheus' own parser reads.
func asPrometheus(t interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, c *counts, text string) {
	t.Helper()
	all := families(t, text)
	for i, family := range counters {
		metrics := all[family.name].GetMetric()
		if len(metrics) != len(c.totals) {
			t.Fatalf("%d of %s:\n%s", len(metrics), family.name, text)
		}
		for _, m := range metrics {
			l := m.GetLabel()
			want := float64(c.totals[labels{l[0].GetValue(), l[1].GetValue(), l[2].GetValue(), l[3].GetValue()}][i])
			if family.seconds {
				want /= second
			}
			if m.GetCounter().GetValue() != want {
				t.Fatalf("%v, and not %v:\n%s", m, want, text)
			}
		}
	}
	for _, m := range all[outageName].GetMetric() {
		h := c.outages[pair{m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue()}]
		got := m.GetHistogram()
		if h == nil || int64(got.GetSampleCount()) != h.count() || got.GetSampleSum() != float64(h.sumUS)/second || len(got.GetBucket()) != len(h.buckets) {
			t.Fatalf("%v, and not %+v:\n%s", m, h, text)
		}
	}
}

// The reader accepts nothing that it would not write again as it is meant.
func FuzzParse(f *testing.F) {
	c := newCounts()
	us := int64(61_500_000)
	c.add(call{labels: labels{"c", "unavailable", "ok", "p"}, attempts: 3, waitUS: 61_300_001, outageUS: &us, at: 1_800_000_000})
	f.Add(string(c.text()))
	f.Add(aSample + "7\n")
	f.Add(`outlast_calls_total{command="\"\\\n",kind="",outcome="",policy="} 1"} 0` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse(text)
		if err != nil {
			return
		}
		written := string(c.text())
		again, err := parse(written)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%v: %q becomes\n%s", err, text, written)
		}
		asPrometheus(t, c, written)
		// Prometheus understands what is accepted here, and no more of it is lost.
		parser := expfmt.NewTextParser(model.LegacyValidation)
		before, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatalf("Prometheus refuses it: %v: %q", err, text)
		}
		for name, family := range before {
			if len(family.GetMetric()) > 0 && !strings.Contains(written, name) {
				t.Fatalf("%s is lost", name)
			}
		}
	})
}
