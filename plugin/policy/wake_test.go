package policy

import (
	"errors"
	"testing"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// waiting is a call in a wait of the unavailable budget.
type waiting struct {
	t     tb
	doc   *Document
	call  abi.Call
	now   int64
	state string
	last  abi.Action
}

// wait0 is a call whose first attempt failed at 0: it waits for 500 ms.
func wait0(t tb, doc *Document, call abi.Call) *waiting {
	w := &waiting{t: t, doc: doc, call: call}
	w.attempt(0, refused)
	return w
}

func (w *waiting) event(e abi.Event, later int64) abi.Action {
	w.now += later
	e.NowUS = w.now
	w.last, w.state = ask(w.t, w.doc, &w.call, w.state, &e)
	return w.last
}

// attempt ends one so much later than the event before.
func (w *waiting) attempt(later int64, r abi.Result) abi.Action {
	return w.event(abi.Event{Type: abi.Attempted, Result: &r}, later)
}

// wake is an answer of the server so much later; random spreads it.
func (w *waiting) wake(later int64, by abi.Readiness, random int64) abi.Action {
	return w.event(abi.Event{Type: abi.Woken, By: by, Random: &random}, later)
}

func TestWakeIsOffered(t *testing.T) {
	doc := steady(t, "150s")
	if got := wait0(t, doc, read0(1)).last.Wake; !cmp.Equal(got, &abi.Wake{By: abi.Accepting}) {
		t.Errorf("a read: %+v", got)
	}
	// A listener that accepts before it serves would break a write.
	if got := wait0(t, doc, write0(1)).last.Wake; !cmp.Equal(got, &abi.Wake{By: abi.Ready}) {
		t.Errorf("a write: %+v", got)
	}
	w := wait0(t, doc, read0(1))
	for _, result := range []abi.Result{capped, recovering, lostRace} {
		if a := w.attempt(million, result); a.Wake != nil {
			t.Errorf("%s can be woken", a.Budget)
		}
	}
	if a := wait0(t, builtin(t, "witan-core"), read0(1)).last; a.Wake != nil {
		t.Error("witan-core can be woken")
	}
}

func TestWokenCallersAreSpread(t *testing.T) {
	for random, want := range map[int64]int64{0: 0, 1 << 31: 15_000, lastChance: 30_000} {
		w := wait0(t, steady(t, "150s"), read0(1))
		a := w.wake(100_000, abi.Accepting, random)
		if a.Type != abi.Retry || a.DelayUS != want || a.Wake != nil || a.Attempt != 2 || a.Kind != "unavailable" {
			t.Errorf("chance %d: %s", random, a.Encode())
		}
		if w.attempt(want, done).Outcome.Type != abi.OutcomeOK {
			t.Error("the woken attempt does not end the call")
		}
	}
}

// Downwards from the deadline: no woken attempt starts past it.
func TestTheSpreadDoesNotPassADeadline(t *testing.T) {
	w := wait0(t, steady(t, "1s"), read0(1)) // at 0.5 the second attempt, at 1 the last
	w.attempt(500_000, refused)
	if a := w.wake(480_000, abi.Ready, lastChance); a.DelayUS != 20_000 {
		t.Errorf("20 ms before the window's end: %s", a.Encode())
	}
	w = wait0(t, steady(t, "1s"), read0(1))
	w.attempt(500_000, refused)
	if a := w.wake(600_000, abi.Ready, lastChance); a.DelayUS != 0 {
		t.Errorf("past the window's end: %s", a.Encode())
	}
	call := read0(1)
	call.BudgetUS = 300_000
	w = wait0(t, steady(t, "150s"), call)
	if a := w.wake(280_000, abi.Ready, lastChance); a.DelayUS != 20_000 {
		t.Errorf("20 ms before the call's end: %s", a.Encode())
	}
}

func TestAWriteIsWokenByReadinessOnly(t *testing.T) {
	w := wait0(t, steady(t, "150s"), write0(1))
	a := w.wake(100_000, abi.Accepting, 0)
	if a.DelayUS != 400_000 || !cmp.Equal(a.Wake, &abi.Wake{By: abi.Ready}) {
		t.Errorf("woken by a mere connection: %s", a.Encode())
	}
	if a = w.wake(150_000, abi.Accepting, 0); a.DelayUS != 250_000 {
		t.Errorf("and again: %s", a.Encode())
	}
	if a = w.wake(50_000, abi.Ready, 0); a.DelayUS != 0 || a.Wake != nil {
		t.Errorf("woken by readiness: %s", a.Encode())
	}
	// The wait that went on ends when it would have ended.
	w = wait0(t, steady(t, "150s"), write0(1))
	w.wake(100_000, abi.Accepting, 0)
	if a := w.attempt(400_000, refused); a.DelayUS != million || *a.RemainingUS != 149_500_000 {
		t.Errorf("after the whole wait: %s", a.Encode())
	}
}

func TestReadinessWakesAReadToo(t *testing.T) {
	if a := wait0(t, steady(t, "150s"), read0(1)).wake(1, abi.Ready, 0); a.DelayUS != 0 {
		t.Errorf("got %s", a.Encode())
	}
}

// A vain wake leaves the schedule as it was: the next attempt is when it would
// have been.
func TestVainWakesLeaveTheScheduleAlone(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1)) // the schedule: 0.5, 1.5, 3.5, 7.5
	w.attempt(500_000, refused)                // at 0.5
	w.attempt(million, refused)                // at 1.5: the next at 3.5
	w.wake(200_000, abi.Accepting, 0)          // at 1.7
	a := w.attempt(10_000, refused)            // at 1.71, a vain wake
	if a.DelayUS != 1_790_000 {
		t.Errorf("after a vain wake: %s", a.Encode())
	}
	if a = w.attempt(1_790_000, refused); a.DelayUS != 4*million {
		t.Errorf("after the schedule's own attempt: %s", a.Encode())
	}
	// The spread is part of the wait, and so is what the attempt took.
	w.wake(2*million, abi.Accepting, 1<<31)
	if a = w.attempt(960_000+40_000, refused); a.DelayUS != million {
		t.Errorf("after another: %s", a.Encode())
	}
}

// One that takes longer than the schedule had left goes on with the next step.
func TestAVainAttemptMayOutlastTheWait(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	w.wake(100_000, abi.Accepting, 0)
	if a := w.attempt(400_000, refused); a.DelayUS != million {
		t.Errorf("got %s", a.Encode())
	}
	w = wait0(t, steady(t, "150s"), read0(1))
	w.wake(100_000, abi.Accepting, 0)
	if a := w.attempt(399_999, refused); a.DelayUS != 1 {
		t.Errorf("got %s", a.Encode())
	}
}

// At most three, held off 1 s after the first and 2 s after the second.
func TestVainWakesAreBounded(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	for range 5 {
		w.attempt(w.last.DelayUS, refused)
	} // a wait of 10 s
	for i, held := range []int64{0, million, 2 * million} {
		if got := w.last.Wake; got == nil || got.AfterUS != held {
			t.Fatalf("before vain wake %d: %+v", i+1, got)
		}
		if held > 0 {
			for _, left := range []int64{held / 2, held / 4} {
				if a := w.wake(w.last.Wake.AfterUS-left, abi.Ready, 0); a.DelayUS == 0 || a.Wake.AfterUS != left {
					t.Errorf("%d µs before the hold-off ends: %s", left, a.Encode())
				}
			}
			w.wake(held/4, abi.Ready, 0)
		} else {
			w.wake(0, abi.Ready, 0)
		}
		if w.last.DelayUS != 0 {
			t.Fatalf("wake %d is not heard: %s", i+1, w.last.Encode())
		}
		w.attempt(0, refused)
	}
	if w.last.Wake != nil {
		t.Errorf("a fourth is offered: %s", w.last.Encode())
	}
	if a := w.wake(million, abi.Ready, 0); a.DelayUS == 0 || a.Wake != nil {
		t.Errorf("a fourth is heard: %s", a.Encode())
	}
	// The next window has three again.
	w.attempt(w.last.DelayUS, broken)
	if got := w.last.Wake; !cmp.Equal(got, &abi.Wake{By: abi.Accepting}) {
		t.Errorf("in the next window: %+v", got)
	}
}

// Each vain wake makes the spread wider, up to the schedule's cap.
func TestTheSpreadGrows(t *testing.T) {
	w := wait0(t, steady(t, "900s", `"cap": "10s"`, `"cap": "60s"`, `"spread_late": "75s"`, `"spread_cap": "10s"`), read0(1))
	for range 7 {
		w.attempt(w.last.DelayUS, refused)
	} // a wait of 60 s
	for _, want := range []int64{30_000, 1_920_000, 10 * million} {
		if a := w.wake(w.last.Wake.AfterUS, abi.Ready, lastChance); a.DelayUS != want {
			t.Fatalf("expected a spread of %d µs: %s", want, a.Encode())
		}
		w.attempt(w.last.DelayUS, refused)
	}
}

// What it has grown by makes no attempt later than the schedule does.
func TestTheGrownSpreadDoesNotPassTheSchedule(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	for range 5 {
		w.attempt(w.last.DelayUS, refused)
	}
	w.wake(0, abi.Ready, 0)
	w.attempt(0, refused)
	for left, want := range map[int64]int64{million: million, 20_000: 30_000, 0: 30_000} {
		v := *w
		if a := v.wake(10*million-left, abi.Ready, lastChance); a.DelayUS != want {
			t.Errorf("%d µs before the schedule's attempt: %s", left, a.Encode())
		}
	}
}

// In an outage of unusual length the first wake is as careful as one after a vain
// wake, and the second no more than that.
func TestALateWindowSpreadsWide(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	for w.now < 75*million {
		w.attempt(w.last.DelayUS, refused)
	}
	for range 2 {
		if a := w.wake(w.last.Wake.AfterUS, abi.Ready, lastChance); a.DelayUS != 1_920_000 {
			t.Errorf("after %d µs: %s", w.now, a.Encode())
		}
		w.attempt(w.last.DelayUS, refused)
	}
}

// An attempt that was woken and broke is vain where the spread grows, in the
// window that it opens; and the last wake of a window is never lost to it.
func TestABrokenWakeGoesOverIntoTheNextWindow(t *testing.T) {
	for _, test := range []struct {
		growth string
		vain   int // wakes that were vain before
		want   int64
	}{{"64", 0, 1_920_000}, {"64", 1, 5 * million}, {"64", 2, 5 * million}, {"", 0, 30_000}, {"", 2, 30_000}} {
		more := []string{`"spread_late": "75s"`, `"spread_cap": "5s"`}
		if test.growth == "" {
			more = []string{`"spread_multiplier": 64, "spread_late": "75s", `, ""}
		}
		w := wait0(t, steady(t, "150s", more...), read0(1))
		for range 5 {
			w.attempt(w.last.DelayUS, refused)
		}
		for range test.vain {
			w.wake(w.last.Wake.AfterUS, abi.Ready, 0)
			w.attempt(w.last.DelayUS, refused)
		}
		w.wake(w.last.Wake.AfterUS, abi.Ready, 0)
		w.attempt(w.last.DelayUS, broken)
		for w.last.DelayUS < 10*million {
			w.attempt(w.last.DelayUS, refused)
		}
		if a := w.wake(3*million, abi.Ready, lastChance); a.Wake != nil || a.DelayUS != test.want {
			t.Errorf("%+v: %s", test, a.Encode())
		}
	}
}

// An attempt of the schedule between them does not take the hold-off away.
func TestTheHoldOffOutlastsTheSchedule(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	w.wake(0, abi.Ready, 0)
	w.attempt(0, refused) // a vain wake, 0.5 s to go
	if w.last.DelayUS != 500_000 || w.last.Wake.AfterUS != million {
		t.Errorf("got %s", w.last.Encode())
	}
	w.attempt(500_000, refused)
	if w.last.Wake.AfterUS != million {
		t.Errorf("got %s", w.last.Encode())
	}
}

func TestAProbeThatFlapsCannotLoop(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	attempts := 1
	for w.last.Type == abi.Retry {
		if wake := w.last.Wake; wake != nil && wake.AfterUS < w.last.DelayUS {
			w.wake(wake.AfterUS, abi.Ready, 0)
			continue
		}
		w.attempt(w.last.DelayUS, refused)
		attempts++
	}
	if w.last.Outcome.Reason != abi.ReasonWindow || attempts > 20+3 {
		t.Errorf("%d attempts: %s", attempts, w.last.Encode())
	}
}

func TestWokenIsUnexpected(t *testing.T) {
	doc, call := steady(t, "150s"), read0(1)
	random := int64(0)
	woken := abi.Event{Type: abi.Woken, By: abi.Ready, Random: &random}
	refuses := func(name, state string) {
		_, _, err := Decide(doc, &call, state, &woken, false)
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeBadRequest || e.Field != "event.type" {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuses("before any attempt", "")
	w := wait0(t, doc, call)
	w.wake(1000, abi.Ready, 1<<31)
	refuses("in the spread of another", w.state)
	local := localWrite()
	_, state := ask(t, doc, &local, "", &abi.Event{Type: abi.Attempted, Result: &drifted})
	refuses("in a repair", state)
}

// A wake needs chance for its spread.
func TestWakeNeedsRandomness(t *testing.T) {
	w := wait0(t, steady(t, "150s"), abi.Call{Remote: true, ConnectRetry: true})
	_, _, err := Decide(w.doc, &w.call, w.state, &abi.Event{Type: abi.Woken, By: abi.Ready}, false)
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeBadRequest || e.Field != "event.random" {
		t.Errorf("got %v", err)
	}
}

// Whenever it is woken, a call makes at most three attempts more, and ends
// within its window.
func TestWakesAreSafe(t *testing.T) {
	doc := steady(t, "60s")
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.SampledFrom([]abi.Call{read0(1), write0(1)}).Draw(t, "call")
		w := wait0(t, doc, call)
		attempts := 1
		for w.last.Type == abi.Retry {
			if w.last.Wake != nil && rapid.Bool().Draw(t, "wake") {
				w.wake(rapid.Int64Range(0, w.last.DelayUS).Draw(t, "when"), drawReadiness(t), drawChance(t))
				continue
			}
			w.attempt(w.last.DelayUS, refused)
			attempts++
		}
		if limit := 11 + 3; attempts > limit || w.now > 60*million || w.last.Outcome.BudgetSpentUS != 60*million {
			t.Fatalf("%d attempts until %d: %s", attempts, w.now, w.last.Encode())
		}
	})
}

func drawReadiness(t *rapid.T) abi.Readiness {
	return rapid.SampledFrom([]abi.Readiness{abi.Accepting, abi.Ready}).Draw(t, "by")
}
