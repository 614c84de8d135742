package policy

import (
	"testing"
	"time"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// notReady is a wait that is over, with a server that says it is not ready yet.
func (w *waiting) notReady(beyond, random int64) abi.Action {
	return w.event(abi.Event{Type: abi.NotReady, Random: &random}, w.last.DelayUS+beyond)
}

// restart is a server that is away at first, then there but loading, and ready
// in the end.
type restart struct{ listens, ready time.Duration }

// ridden plays a call whose host sees at once how the server is, and reports
// what it may. chance is every random number.
func (r restart) ridden(t tb, doc *Document, call abi.Call, from time.Duration, notReady bool, chance int64) (w *waiting, starts []time.Duration) {
	w = &waiting{t: t, doc: doc, call: call, now: from.Microseconds()}
	call.Seed, w.call.Seed = nil, nil
	answer := func(at int64) abi.Result {
		if at < r.ready.Microseconds() {
			return refused
		}
		return done
	}
	attempt := func(later int64) {
		starts = append(starts, time.Duration(w.now+later)*time.Microsecond)
		result := answer(w.now + later)
		w.event(abi.Event{Type: abi.Attempted, Result: &result, Random: &chance}, later)
	}
	attempt(0)
	for w.last.Type == abi.Retry {
		switch due := w.now + w.last.DelayUS; {
		case w.last.Wake != nil && due > r.ready.Microseconds():
			w.wake(max(0, r.ready.Microseconds()-w.now), abi.Ready, 0)
		case w.last.Wake != nil && due < r.listens.Microseconds():
			w.down(0, chance)
		case w.last.Wake != nil && notReady && due < r.ready.Microseconds():
			w.notReady(0, chance)
		default:
			attempt(w.last.DelayUS)
		}
	}
	return w, starts
}

// A restart of 10 s with 20 s of loading takes four attempts at most, whenever
// the call begins in it and however the chance falls.
func TestARestartThatLoadsTakesFourAttempts(t *testing.T) {
	doc, r := builtin(t, "omnigraph"), restart{10 * time.Second, 30 * time.Second}
	for from := time.Duration(0); from < r.ready; from += 97 * ms {
		for _, chance := range []int64{0, 1 << 31, lastChance} {
			for _, call := range []abi.Call{read0(1), write0(1)} {
				w, starts := r.ridden(t, doc, call, from, true, chance)
				if w.last.Outcome.Type != abi.OutcomeOK || len(starts) > 4 || starts[len(starts)-1] != r.ready {
					t.Fatalf("from %v, chance %d: attempts at %v: %s", from, chance, starts, w.last.Encode())
				}
			}
		}
	}
}

// What loads may be another graph: the call's own is attempted once a cap, counted from
// the last attempt or from when the server was down.
func TestNoAttemptIsLeftOutForLongerThanACap(t *testing.T) {
	doc := steady(t, "150s")
	rapid.Check(t, func(t *rapid.T) {
		w := wait0(t, doc, read0(1))
		last, late := int64(0), int64(0) // a timer that fires late is nobody's fault
		for w.last.Type == abi.Retry {
			switch {
			case w.last.Wake != nil && rapid.IntRange(0, 9).Draw(t, "down") == 0:
				w.down(0, drawChance(t))
				last = w.now
			case w.last.Wake != nil && rapid.IntRange(0, 9).Draw(t, "woken too soon") == 0:
				w.call.Write = true // an accepted connection does not wake a write
				w.wake(rapid.Int64Range(0, w.last.DelayUS).Draw(t, "when"), abi.Accepting, 0)
			case w.last.Wake != nil:
				late = rapid.SampledFrom([]int64{0, 0, 0, 5000, 3 * million}).Draw(t, "late")
				w.notReady(late, drawChance(t))
			default:
				if gap := w.now + w.last.DelayUS - last; gap > 10*million+late {
					t.Fatalf("no attempt for %d µs", gap)
				}
				w.attempt(w.last.DelayUS, refused)
				last = w.now
			}
		}
	})
}

// Under a host that says that the server is not ready no attempt comes sooner
// than its like without that, so there are never more; the deadline has its own.
func TestNotReadyNeverAddsAttempts(t *testing.T) {
	docs := []*Document{builtin(t, "omnigraph"), steady(t, "60s"), steady(t, "60s", `"call_budget": "clamp",
      "wake"`, `"call_budget": "stop_at",
      "wake"`)}
	rapid.Check(t, func(t *rapid.T) {
		doc := docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")]
		call := rapid.SampledFrom([]abi.Call{read0(1), write0(1)}).Draw(t, "call")
		if rapid.Bool().Draw(t, "with a budget") {
			call.BudgetUS = rapid.Int64Range(1, 200*million).Draw(t, "budget")
		}
		listens := time.Duration(rapid.Int64Range(0, 200_000).Draw(t, "listens")) * ms
		r := restart{listens, listens + time.Duration(rapid.Int64Range(0, 200_000).Draw(t, "loads"))*ms}
		chance := drawChance(t)
		told, starts := r.ridden(t, doc, call, 0, true, chance)
		without, all := r.ridden(t, doc, call, 0, false, chance)
		for i, start := range starts {
			if i < len(starts)-1 && (i >= len(all) || start < all[i]) {
				t.Fatalf("attempts at %v, without at %v", starts, all)
			}
		}
		if len(starts) > len(all) {
			t.Fatalf("attempts at %v, without at %v", starts, all)
		}
		if a, b := told.last.Outcome, without.last.Outcome; a.Type != b.Type || a.Reason != b.Reason {
			t.Fatalf("%s, without %s", told.last.Encode(), without.last.Encode())
		}
	})
}

// A host that no longer sees that the server loads is back on the schedule.
func TestTheScheduleGoesOnWhileTheServerLoads(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1)) // the schedule: 0.5, 1.5, 3.5, 7.5, 15.5
	for _, due := range []int64{500_000, 1_500_000, 3_500_000} {
		w.notReady(0, 0)
		if w.now != due || w.last.Attempt != 2 {
			t.Errorf("left out at %d: %s", w.now, w.last.Encode())
		}
	}
	w.attempt(w.last.DelayUS, refused)
	if w.now != 7_500_000 || w.last.DelayUS != 8*million || w.last.Attempt != 3 {
		t.Errorf("at %d: %s", w.now, w.last.Encode())
	}
}

// Whatever the host has seen, the deadline gets its attempt.
func TestTheDeadlineIsTriedHoweverLongTheServerLoads(t *testing.T) {
	forEver := restart{0, time.Hour}
	w, starts := forEver.ridden(t, steady(t, "25s"), write0(1), 0, true, 0)
	if o := w.last.Outcome; o.Reason != abi.ReasonWindow || !cmp.Equal(starts, at(0, 10, 20, 25)) {
		t.Errorf("attempts at %v: %s", starts, w.last.Encode())
	}
	w, starts = forEver.ridden(t, steady(t, "60s"), with(read0(1), 7*time.Second), 0, true, 0)
	if o := w.last.Outcome; o.Reason != abi.ReasonCall || !cmp.Equal(starts, at(0, 7)) {
		t.Errorf("attempts at %v: %s", starts, w.last.Encode())
	}
}

// A build before 1.2 has no word for what was left out, and reads the state all
// the same: the number stands where it has one that it does not look at.
func TestStatesKeepTheirShape(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	before := len(numbersOf(w.state))
	w.notReady(0, 0)
	if n := numbersOf(w.state); len(n) != before || n[9] != "500000" || n[6] != "0" {
		t.Errorf("the state is %q", w.state)
	}
}
