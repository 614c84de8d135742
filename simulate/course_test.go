package simulate

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/plugin/policy"
)

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
