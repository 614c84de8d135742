package simulate

import (
	"context"
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
