package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/plugin/policy"
)

const refusedText = "Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n   1: client error (Connect)\n   2: tcp connect error\n   3: Connection refused (os error 111)\n\nLocation:\n"

func exit1(stderr string) abi.Result {
	one := int64(1)
	return abi.Result{ExitCode: &one, Stderr: abi.Clip(stderr)}
}

var results = Results{
	Down:   exit1(refusedText),
	Busy:   exit1("Error: \n   0: actor in-flight count cap 1 exceeded\n\nLocation:\n"),
	Broken: exit1("Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n   1: client error (SendRequest)\n   2: connection closed before message completed\n\nLocation:\n"),
}

// plain is a policy with one window, as the field's schedules are for.
func plain(t testing.TB, window, jitter string) *policy.Document {
	t.Helper()
	doc, err := policy.Parse(fmt.Sprintf(`{"version": 1, "name": "plain",
	"budgets": {"unavailable": {%s, "call_budget": "clamp",
		"backoff": {"type": "exponential", "base": "500ms", "multiplier": 2, "cap": "10s", "jitter": %s}}},
	"rules": [
		{"kind": "unavailable", "when": [{"text": [{"in": "cause", "at": 2, "is": ["tcp connect error"]}]}],
		 "then": [{"retry": "unavailable"}]},
		{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]}`, window, jitter))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func builtin(t testing.TB, name string, window time.Duration) *policy.Document {
	t.Helper()
	doc, err := policy.BuiltIn(name)
	if err == nil && window > 0 {
		doc, err = doc.WithMaxWait(window.Microseconds())
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func reader(seed int64) *abi.Call {
	return &abi.Call{Remote: true, ConnectRetry: true, Seed: &seed}
}

func seconds(list ...float64) (out []time.Duration) {
	for _, s := range list {
		out = append(out, time.Duration(s*1e6+0.5)*time.Microsecond)
	}
	return out
}

// The schedules that the host's tests on a virtual clock hold the plugin to.
func TestSchedules(t *testing.T) {
	never := time.Hour
	for _, test := range []struct {
		name          string
		window        string
		outage, takes time.Duration
		want          []time.Duration
	}{
		{"connects fail at once", "75s", never, 0, seconds(0, .5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 65.5, 75)},
		{"connects take 3 s", "60s", never, 3 * time.Second, seconds(0, 3.5, 7.5, 12.5, 19.5, 30.5, 43.5, 56.5, 63)},
		{"server back at 59.9 s", "60s", 59900 * time.Millisecond, 0, seconds(0, .5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 60)},
		{"a short window", "5s", never, 0, seconds(0, .5, 1.5, 3.5, 5)},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := plain(t, `"max_wait": "`+test.window+`"`, "0")
			scene := &Scene{Away: []Span{{0, test.outage}}, Takes: test.takes, Results: results}
			story, err := Play(context.Background(), NewNative(doc, reader(1)), scene, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := story.Starts(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func courses(doc *policy.Document, takes time.Duration) *Courses {
	return &Courses{New: func() Decider { return NewNative(doc, reader(1)) }, Takes: takes, Results: results}
}

// The budget that failed, and those that do: a window outlasts what it is long,
// however long a connect takes, and twelve attempts what their delays add up to.
func TestTheWorstCourse(t *testing.T) {
	for _, test := range []struct {
		name   string
		doc    *policy.Document
		takes  time.Duration
		lasts  time.Duration
		spared time.Duration // rounding
	}{
		{"omnigraph", builtin(t, "omnigraph", 0), 0, 150 * time.Second, 0},
		{"42.5 s", builtin(t, "omnigraph", 42500*time.Millisecond), 0, 42500 * time.Millisecond, 0},
		{"12 attempts", plain(t, `"attempts": 12`, "0"), 0, 75500 * time.Millisecond, 0},
		{"12 attempts, jittered", plain(t, `"attempts": 12`, "0.1"), 0, 70045454 * time.Microsecond, 20 * time.Microsecond},
		{"connects that take 3 s", builtin(t, "omnigraph", 60*time.Second), 3 * time.Second, 60 * time.Second, 0},
		{"connects that take 9 s", builtin(t, "omnigraph", 60*time.Second), 9 * time.Second, 60 * time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := courses(test.doc, test.takes).Extremes(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got := list[0].Last()
			t.Log(got, len(list))
			if test.takes == 0 && (got-test.lasts).Abs() > test.spared {
				t.Errorf("outlasts %v, want %v", got, test.lasts)
			}
			if got < test.lasts-test.spared {
				t.Errorf("outlasts %v, less than %v", got, test.lasts)
			}
		})
	}
}

// No mix of chances is worse than the worst course that was found.
func TestNoMixIsWorse(t *testing.T) {
	ctx := context.Background()
	shapes := []func(window string) *policy.Document{
		func(w string) *policy.Document { return plain(t, w, "0.1") },
		func(w string) *policy.Document { return plain(t, w, "1") },
		func(w string) *policy.Document {
			doc, _ := policy.Parse(`{"version": 1, "name": "full", "budgets": {"u": {` + w + `, "backoff": {"type": "full_jitter", "base": "1s", "multiplier": 2, "cap": "8s"}}},
				"rules": [{"kind": "down", "then": [{"retry": "u"}]}]}`)
			return doc
		},
		func(w string) *policy.Document {
			doc, _ := policy.Parse(`{"version": 1, "name": "cut", "budgets": {"u": {` + w + `, "backoff": {"type": "linear", "base": "1s", "cap": "9s", "jitter": 0.5, "jitter_at_cap": "cut"}}},
				"rules": [{"kind": "down", "then": [{"retry": "u"}]}]}`)
			return doc
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		window := fmt.Sprintf(`"max_wait": "%dms"`, rapid.IntRange(1000, 60_000).Draw(t, "window"))
		if rapid.Bool().Draw(t, "attempts") {
			window = fmt.Sprintf(`"attempts": %d`, rapid.IntRange(2, 12).Draw(t, "attempts"))
		}
		doc := rapid.SampledFrom(shapes).Draw(t, "shape")(window)
		if doc == nil {
			t.Fatal("no such policy")
		}
		takes := time.Duration(rapid.IntRange(0, 5000).Draw(t, "takes")) * time.Millisecond
		c := courses(doc, takes)
		list, err := c.Extremes(ctx)
		var many *TooMany
		if errors.As(err, &many) && takes*MaxCourse <= time.Minute {
			return // delays of nothing, and attempts that do not fill the window either
		}
		if err != nil {
			t.Fatal(err)
		}
		mix := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, MaxChance), rapid.SampledFrom([]int64{0, MaxChance})), 200, 200).Draw(t, "mix")
		course, err := c.play(ctx, func(event int) int64 { return mix[event%len(mix)] })
		if err != nil {
			t.Fatal(err)
		}
		if course.Last() < list[0].Last() {
			t.Fatalf("a mix outlasts %v, the worst course %v", course.Last(), list[0].Last())
		}
	})
}

// What a course says of an outage is what happens in it, at any beginning; and
// the lag that it says is the longest there is.
func TestCoursesTellOfEveryOutage(t *testing.T) {
	ctx := context.Background()
	doc := builtin(t, "omnigraph", 30*time.Second)
	rapid.Check(t, func(t *rapid.T) {
		c := courses(doc, time.Duration(rapid.IntRange(0, 4000).Draw(t, "takes"))*time.Millisecond)
		list, err := c.Extremes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		course := rapid.SampledFrom(list).Draw(t, "course")
		outage := time.Duration(rapid.Int64Range(1, 40_000_000).Draw(t, "outage")) * time.Microsecond
		begin := time.Duration(rapid.Int64Range(0, int64(outage/time.Microsecond)-1).Draw(t, "begin")) * time.Microsecond
		story, err := c.Confirm(ctx, course, outage, begin)
		if err != nil {
			t.Fatal(err)
		}
		lag, worst := course.Lag(outage)
		if story.OK() && story.Last()-outage > lag {
			t.Fatalf("a lag of %v, at most %v is said", story.Last()-outage, lag)
		}
		if atWorst, err := c.Confirm(ctx, course, outage, worst); err != nil || lag > 0 && atWorst.Last()-outage != lag {
			t.Fatalf("at its worst moment the lag is not %v: %v", lag, err)
		}
	})
}

func TestTheSmallestWindow(t *testing.T) {
	for _, test := range []struct{ takes, outage, want time.Duration }{
		{0, 61 * time.Second, 61 * time.Second},
		{0, 52123 * time.Millisecond, 52123 * time.Millisecond},
		{3 * time.Second, 61 * time.Second, 61 * time.Second},
	} {
		with := func(window time.Duration) (*Courses, error) {
			return courses(builtin(t, "omnigraph", window), test.takes), nil
		}
		got, err := SmallestWindow(context.Background(), test.outage, test.takes, with)
		if err != nil || got > test.want || got < test.want-test.takes {
			t.Errorf("%v: got %v, want %v: %v", test.outage, got, test.want, err)
		}
		for _, w := range []time.Duration{got, got - time.Millisecond} {
			c, _ := with(w)
			list, err := c.Extremes(context.Background())
			if err != nil || (list[0].Last() >= test.outage) != (w == got) {
				t.Errorf("with %v it outlasts %v", w, list[0].Last())
			}
		}
	}
}

func TestAPolicyThatDoesNotWait(t *testing.T) {
	c := courses(builtin(t, "omnigraph", 0), 0)
	c.Results.Down = exit1("something else")
	_, err := c.Extremes(context.Background())
	if not, ok := err.(*NotRetried); !ok || not.Outcome.Kind != "failed" {
		t.Errorf("got %v", err)
	}
}

// Watching: the return is noticed, and attempts that would fail are left out.
func TestWatched(t *testing.T) {
	scene := &Scene{Away: []Span{{0, 61 * time.Second}}, Results: results, Watch: &AsHost}
	for _, write := range []bool{false, true} {
		call := reader(7)
		call.Write = write
		story, err := Play(context.Background(), NewNative(builtin(t, "omnigraph", 0), call), scene, 0, nil)
		if err != nil || !story.OK() {
			t.Fatalf("%v %+v", err, story)
		}
		starts := story.Starts()
		known := AsHost.Looks
		if write {
			known += AsHost.Confirmed
		}
		if lag := story.Last() - 61*time.Second; len(starts) != 2 || lag < known || lag > known+100*time.Millisecond {
			t.Errorf("write %v: attempts at %v", write, starts)
		}
	}
}

func fleet(t testing.TB, window time.Duration, outage time.Duration, callers int) *Fleet {
	doc := builtin(t, "omnigraph", window)
	return &Fleet{
		Policy: doc, Call: *reader(0), Callers: callers,
		Scene: Scene{Away: []Span{{0, outage}}, Results: results},
		Check: func(call abi.Call) Decider { return NewNative(doc, &call) },
	}
}

// The herd at the deadline, as it was computed with another program (100,000
// callers, 40,000 runs of a lag: see RATIONALE.md on the clamp).
func TestTheHerd(t *testing.T) {
	for _, test := range []struct {
		window, outage time.Duration
		low, high      float64
	}{
		{75 * time.Second, 58 * time.Second, 0.02, 0.08},
		{61 * time.Second, 60500 * time.Millisecond, 0.95, 1},
	} {
		f := fleet(t, test.window, test.outage, 20_000)
		report, err := f.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		peak, at := report.Peak()
		share := float64(peak) / float64(report.Callers)
		t.Logf("window %v, outage %v: %.3f at %v", test.window, test.outage, share, at)
		if share < test.low || share > test.high {
			t.Errorf("window %v, outage %v: the largest share in 100 ms is %.3f", test.window, test.outage, share)
		}
		if report.Served != report.Callers || report.Checked < 1000 {
			t.Errorf("%d served, %d decisions checked", report.Served, report.Checked)
		}
	}
}

// A caller of a fleet does what a call by itself does.
func TestFleetsAreCalls(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		f := fleet(t, time.Duration(rapid.IntRange(5, 90).Draw(rt, "window"))*time.Second, time.Duration(rapid.IntRange(1, 80_000).Draw(rt, "outage"))*time.Millisecond, 50)
		f.Seed = rapid.Uint64().Draw(rt, "seed")
		f.Scene.Takes = time.Duration(rapid.IntRange(0, 3000).Draw(rt, "takes")) * time.Millisecond
		f.Arrivals.Over = time.Duration(rapid.IntRange(0, 100_000).Draw(rt, "over")) * time.Millisecond
		f.Call.Write = rapid.Bool().Draw(rt, "write")
		if rapid.Bool().Draw(rt, "watched") { // all look together, as one call does
			f.Scene.Watch = &Watch{Confirmed: 300 * time.Millisecond}
		}
		if rapid.Bool().Draw(rt, "twice") {
			from := f.Scene.Away[0].To + time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "gap"))*time.Millisecond
			f.Scene.Away = append(f.Scene.Away, Span{from, from + 20*time.Second})
		}
		report, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		r := &run{Fleet: f}
		begins := f.Arrivals.begins(f.Callers, f.Seed, 0)
		want := Report{}
		var all bins
		for id, begin := range begins {
			call := r.call(uint32(id))
			story, err := Play(ctx, NewNative(f.Policy, &call), &f.Scene, begin, nil)
			if err != nil {
				rt.Fatal(err)
			}
			for _, m := range story.Moments {
				switch m.Met {
				case MetDown:
					all.at(m.At).Arrivals++
					all.at(m.At).Wasted++
				case MetUp:
					all.at(m.At).Arrivals++
					all.at(m.At).Served++
				case MetLeftOut:
					want.LeftOut++
				}
			}
			if story.OK() {
				want.Served++
			}
		}
		if want.Served != report.Served || want.LeftOut != report.LeftOut || !reflect.DeepEqual([]Bin(all), report.Bins) {
			rt.Fatalf("by themselves %d are served and %d left out; in the fleet %d and %d\n%v\n%v", want.Served, want.LeftOut, report.Served, report.LeftOut, all, report.Bins)
		}
	})
}

// The report does not depend on how many processors there are, and every caller
// and every attempt is accounted for, whatever the server does.
func TestFleetsAddUp(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		f := fleet(t, time.Duration(rapid.IntRange(5, 90).Draw(rt, "window"))*time.Second, time.Duration(rapid.IntRange(1, 40_000).Draw(rt, "outage"))*time.Millisecond, rapid.IntRange(1, 600).Draw(rt, "callers"))
		f.Server = Server{PerSecond: rapid.Int64Range(0, 200).Draw(rt, "capacity"), RelapseAt: rapid.IntRange(0, 200).Draw(rt, "relapse"), RelapseFor: 10 * time.Second}
		if f.Server.PerSecond > 0 {
			f.Server.AdmissionCap = rapid.IntRange(0, 50).Draw(rt, "cap")
		}
		if rapid.Bool().Draw(rt, "watched") {
			f.Scene.Watch = &AsHost
		}
		f.Arrivals.Over = time.Duration(rapid.IntRange(0, 50_000).Draw(rt, "over")) * time.Millisecond
		f.Courses = rapid.IntRange(0, 100).Draw(rt, "courses")
		report, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		gone := report.Served
		for _, n := range report.GaveUp {
			gone += n
		}
		if gone != f.Callers || report.Attempts-report.Wasted != report.Served {
			rt.Fatalf("%d of %d callers are accounted for; %d attempts, %d wasted, %d served", gone, f.Callers, report.Attempts, report.Wasted, report.Served)
		}
		again, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		a, _ := json.Marshal(report)
		b, _ := json.Marshal(again)
		if string(a) != string(b) {
			rt.Fatalf("%s\n%s", a, b)
		}
	})
}

// A stampede knocks the server over again, and what was in it breaks.
func TestRelapse(t *testing.T) {
	f := fleet(t, 0, 60500*time.Millisecond, 2000)
	f.Server = Server{PerSecond: 100, RelapseAt: 50, RelapseFor: 20 * time.Second}
	report, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if report.Relapses == 0 || len(report.Away) != 1+report.Relapses || report.Served == 0 {
		t.Errorf("%d relapses, served %d, gave up: %v", report.Relapses, report.Served, report.GaveUp)
	}
	f.Call.Write = true // a write that broke may have been applied, and is not repeated
	report, err = f.Run(context.Background())
	if err != nil || report.GaveUp["interrupted, indeterminate"] == 0 {
		t.Errorf("gave up: %v: %v", report.GaveUp, err)
	}
	for i := 1; i < len(report.Away); i++ {
		if report.Away[i].From <= report.Away[i-1].To {
			t.Errorf("outages overlap: %v", report.Away)
		}
	}
}

// A plugin that decides otherwise is found.
func TestADifferenceIsFound(t *testing.T) {
	f := fleet(t, 0, 10*time.Second, 100)
	other := builtin(t, "omnigraph", 149*time.Second)
	f.Check = func(call abi.Call) Decider { return NewNative(other, &call) }
	if _, err := f.Run(context.Background()); err == nil {
		t.Error("nothing is found")
	}
}

func TestBadFleets(t *testing.T) {
	for name, change := range map[string]func(*Fleet){
		"callers":  func(f *Fleet) { f.Callers = 0 },
		"too many": func(f *Fleet) { f.Callers = MaxCallers + 1 },
		"outages":  func(f *Fleet) { f.Scene.Away = nil },
		"capacity": func(f *Fleet) { f.Server.PerSecond = -1 },
		"cap":      func(f *Fleet) { f.Server.AdmissionCap = 5 },
		"relapse":  func(f *Fleet) { f.Server.RelapseAt = 5 },
	} {
		f := fleet(t, 0, time.Second, 10)
		change(f)
		if _, err := f.Run(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPlans(t *testing.T) {
	for text, want := range map[string]string{
		"61s":                        "",
		"20s@5s,30s@70s":             "",
		"uniform:52s..61s":           "",
		"uniform:52s..61s@3s,1s@70s": "",
		"-5s":                        "positive",
		"0s":                         "positive",
		"forever":                    "never ends",
		"":                           "never ends",
		"1000h":                      "longest",
		"61":                         "such as 61s",
		"20s@5s,30s@10s":             "overlap",
		"20s@5s,30s@25s":             "overlap",
		"20s@50s,30s@10s":            "in order",
		"20s@-5s":                    "when it begins",
		"uniform:61s..52s":           "before it begins",
		"uniform:61s":                "range",
		"100ns":                      "whole microseconds",
	} {
		plan, err := ParsePlan(text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %q", text, err, want)
		case err == nil:
			for n := range uint64(50) {
				for i, s := range plan.Draw(1, n) {
					if d := s.To - s.From; d < plan[i].Low || d > plan[i].Max {
						t.Errorf("%q: drew %v", text, d)
					}
				}
			}
		}
	}
	for _, text := range []string{"", "together:1", "spread:0s", "spread:x", "poisson:0/s", "poisson:x", "apart"} {
		if _, err := ParseArrivals(text); err == nil {
			t.Errorf("arrivals %q: no error", text)
		}
	}
}

func contains(s, part string) bool {
	for i := range s {
		if len(s)-i >= len(part) && s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

// Runs are calls, each with its own outage, and the worst is the worst.
func TestRuns(t *testing.T) {
	plan, err := ParsePlan("uniform:52s..61s")
	if err != nil {
		t.Fatal(err)
	}
	doc := builtin(t, "omnigraph", 55*time.Second)
	runs := &Runs{
		Scene: Scene{Results: results}, N: 500,
		Begin: func(int) time.Duration { return 0 },
		Away:  func(n int) []Span { return plan.Draw(1, uint64(n)) },
		New:   func(n int) Decider { return NewNative(doc, reader(int64(n))) },
		Check: func(n int) Decider { return NewNative(doc, reader(int64(n))) },
	}
	s, err := runs.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for n := range runs.N {
		if d := runs.Away(n)[0].To; d <= 55*time.Second {
			want++
		}
	}
	if s.OK != want || s.Runs != 500 || s.Checked < 200 || len(s.Lags) != want {
		t.Errorf("%d succeed, %d should; %d checked", s.OK, want, s.Checked)
	}
	if story, _, err := runs.Play(context.Background(), s.Worst, runs.New(s.Worst)); err != nil || story.OK() {
		t.Errorf("the worst run succeeds: %v", err)
	}
	runs.Check = func(n int) Decider { return NewNative(builtin(t, "omnigraph", 0), reader(int64(n))) }
	if _, err := runs.Run(context.Background()); err == nil {
		t.Error("a plugin that decides otherwise is not found")
	}
	runs.N = 0
	if _, err := runs.Run(context.Background()); err == nil {
		t.Error("no runs are no error")
	}
}

// Courses whose delays may be nothing, or nearly are, are given up soon, and
// none that is within the bound.
func TestTooManyAttempts(t *testing.T) {
	with := func(window, backoff string) *policy.Document {
		doc, err := policy.Parse(`{"version": 1, "name": "quick", "budgets": {"away": {"max_wait": "` + window + `", "backoff": ` + backoff + `}},
			"rules": [{"kind": "away", "then": [{"retry": "away"}]}]}`)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	const full = `{"type": "full_jitter", "base": "2s", "multiplier": 2, "cap": "10s"}`
	const tiny = `{"type": "exponential", "base": "1ms", "multiplier": 1, "cap": "1ms"}`
	for _, test := range []struct {
		window, backoff string
		takes           time.Duration
		within          time.Duration // -1: it is followed
	}{
		{"30s", full, 0, 0},
		{"30s", full, time.Second, -1},
		{"30s", tiny, 0, 499 * time.Millisecond},
		{"30s", tiny, time.Millisecond, 999 * time.Millisecond},
		{"500ms", tiny, 0, 499 * time.Millisecond},
		{"499ms", tiny, 0, -1}, // 500 attempts
	} {
		calls := 0
		c := courses(with(test.window, test.backoff), test.takes)
		decider := c.New
		c.New = func() Decider { calls++; return decider() }
		_, err := c.Extremes(context.Background())
		var many *TooMany
		switch {
		case test.within < 0 && err != nil:
			t.Errorf("%+v: %v", test, err)
		case test.within >= 0 && (!errors.As(err, &many) || many.Within != test.within || calls > 2):
			t.Errorf("%+v: %v after %d calls", test, err, calls)
		}
	}
}

func TestPoisson(t *testing.T) {
	list := Arrivals{PerSecond: 500}.begins(100_000, 3, time.Second)
	if last := list[len(list)-1]; last < 195*time.Second || last > 207*time.Second || list[0] < time.Second {
		t.Errorf("100000 calls at 500 a second take %v", last)
	}
}

func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := fleet(b, 0, 61*time.Second, n)
			f.Courses = 100_000
			for b.Loop() {
				if _, err := f.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "callers/s")
		})
	}
}

// A server that loads is seen to, and its callers come back as soon as it is
// ready, with four attempts at most; in the plugin as natively.
func TestWatchedWhileItLoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		away := time.Duration(rapid.Int64Range(1, 20_000).Draw(t, "away")) * time.Millisecond
		loading := time.Duration(rapid.Int64Range(0, 20_000).Draw(t, "loading")) * time.Millisecond
		scene := &Scene{Away: []Span{{0, away + loading}}, Loading: loading, Results: results, Watch: &AsHost}
		doc, err := policy.BuiltIn("omnigraph")
		if err != nil {
			t.Fatal(err)
		}
		call := reader(rapid.Int64Range(0, 1000).Draw(t, "seed"))
		begin := time.Duration(rapid.Int64Range(0, int64((away+loading)/time.Microsecond)-1).Draw(t, "begin")) * time.Microsecond
		story, err := Play(context.Background(), NewNative(doc, call), scene, begin, nil)
		if err != nil || !story.OK() {
			t.Fatalf("%v %+v", err, story)
		}
		if n := len(story.Starts()); n > 4 {
			t.Fatalf("%d attempts", n)
		}
		for _, m := range story.Moments {
			if (m.Met == MetLoading) && m.At < away || m.Met == MetLeftOut && m.At >= away {
				t.Fatalf("%+v", m)
			}
		}
		// The next of the schedule may come just before the look.
		if lag := story.Last() - (away + loading); lag > AsHost.Looks+100*time.Millisecond {
			t.Fatalf("%v late: %+v", lag, story.Moments)
		}
	})
}
