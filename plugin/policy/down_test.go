package policy

import (
	"errors"
	"testing"
	"time"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// down is a wait that is over, with a server that is seen to be down. The clock
// moves by so much more than the delay, or less.
func (w *waiting) down(beyond, random int64) abi.Action {
	return w.event(abi.Event{Type: abi.Down, Random: &random}, w.last.DelayUS+beyond)
}

// watched plays a call whose host sees at once that the server is back at a
// moment, and until then that it is down. A write is woken by readiness.
func watched(t tb, doc *Document, call abi.Call, back time.Duration) (w *waiting, starts []time.Duration) {
	w = wait0(t, doc, call)
	starts = append(starts, 0)
	up := back.Microseconds()
	for w.last.Type == abi.Retry {
		switch due := w.now + w.last.DelayUS; {
		case w.last.Wake != nil && due > up:
			w.wake(max(0, up-w.now), abi.Ready, 0)
		case w.last.Wake != nil:
			w.down(0, 0)
		default:
			starts = append(starts, time.Duration(due)*time.Microsecond)
			result := refused
			if due >= up {
				result = done
			}
			w.attempt(w.last.DelayUS, result)
		}
	}
	return w, starts
}

// Under a host that watches, a restart takes two attempts, and the second
// starts when the server is back.
func TestARestartTakesTwoAttempts(t *testing.T) {
	for name, length := range outages(t) {
		for _, call := range []abi.Call{read0(1), write0(1)} {
			w, starts := watched(t, builtin(t, "omnigraph"), call, length)
			if w.last.Outcome.Type != abi.OutcomeOK || !cmp.Equal(starts, []time.Duration{0, length}) {
				t.Errorf("%s: attempts at %v: %s", name, starts, w.last.Encode())
			}
		}
	}
}

// Whatever the host has seen, the deadline gets its attempt.
func TestTheDeadlineIsTriedHoweverDownTheServerIs(t *testing.T) {
	w, starts := watched(t, steady(t, "60s"), write0(1), time.Hour)
	if o := w.last.Outcome; o.Reason != abi.ReasonWindow || !cmp.Equal(starts, at(0, 60)) {
		t.Errorf("attempts at %v: %s", starts, w.last.Encode())
	}
	w, starts = watched(t, steady(t, "60s"), with(read0(1), 7*time.Second), time.Hour)
	if o := w.last.Outcome; o.Reason != abi.ReasonCall || !cmp.Equal(starts, at(0, 7)) {
		t.Errorf("attempts at %v: %s", starts, w.last.Encode())
	}
}

// A host that loses sight of the server is back on the schedule.
func TestTheScheduleGoesOnWithoutTheAttempts(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1)) // the schedule: 0.5, 1.5, 3.5, 7.5, 15.5, 25.5
	for _, due := range []int64{500_000, 1_500_000, 3_500_000} {
		w.down(0, 0)
		if w.now != due || w.last.Attempt != 2 {
			t.Errorf("left out at %d: %s", w.now, w.last.Encode())
		}
	}
	w.attempt(w.last.DelayUS, refused)
	if w.now != 7_500_000 || w.last.DelayUS != 8*million || w.last.Attempt != 3 {
		t.Errorf("at %d: %s", w.now, w.last.Encode())
	}
}

// The last attempt of a budget that stops before the call's end is made: after
// it there would be none.
func TestTheLastAttemptBeforeTheCallEndsIsMade(t *testing.T) {
	for _, how := range []string{"stop_at", "stop_above"} {
		doc := steady(t, "150s", `"call_budget": "clamp",
      "wake"`, `"call_budget": "`+how+`",
      "wake"`)
		w, starts := watched(t, doc, with(read0(1), 3*time.Second), time.Hour)
		if w.last.Outcome.Reason != abi.ReasonCall || !cmp.Equal(starts, at(0, 1.5)) {
			t.Errorf("%s: attempts at %v: %s", how, starts, w.last.Encode())
		}
	}
}

// What is left of a hold-off goes on into the wait after an attempt that is left
// out, as time would have it.
func TestAnAttemptLeftOutDoesNotEndTheHoldOff(t *testing.T) {
	w := wait0(t, steady(t, "150s"), read0(1))
	w.wake(0, abi.Ready, 0)
	w.attempt(0, refused) // a vain wake: held off for 1 s, and 0.5 s to go
	if a := w.down(100_000, 0); a.DelayUS != million || a.Wake.AfterUS != 400_000 {
		t.Errorf("got %s", a.Encode())
	}
	if a := w.wake(399_999, abi.Ready, 0); a.DelayUS != 600_001 || a.Wake.AfterUS != 1 {
		t.Errorf("woken before the hold-off ends: %s", a.Encode())
	}
	if a := w.wake(1, abi.Ready, 0); a.DelayUS != 0 {
		t.Errorf("woken as it ends: %s", a.Encode())
	}
}

func TestDownIsUnexpected(t *testing.T) {
	doc, call := steady(t, "150s"), read0(1)
	random := int64(0)
	event := abi.Event{Type: abi.Down, Random: &random}
	refuses := func(name, state string) {
		_, _, err := Decide(doc, &call, state, &event, false)
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeBadRequest || e.Field != "event.type" {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuses("before any attempt", "")
	w := wait0(t, doc, call)
	w.wake(1000, abi.Ready, 1<<31)
	refuses("in the spread of a wake", w.state)
	w = wait0(t, steady(t, "150s"), call)
	w.down(200*million, 0)
	refuses("where there is no wait", w.state)
	local := localWrite()
	_, state := ask(t, doc, &local, "", &abi.Event{Type: abi.Attempted, Result: &drifted})
	refuses("in a repair", state)
}

// A state has room for no more steps than a call for attempts, so that a host
// cannot be down for ever in a window that is long and a schedule that is dense.
func TestStepsAreBounded(t *testing.T) {
	doc := parsed(t, `{"version":1,"name":"dense","budgets":{"b":{"max_wait":"9007199254740991us",`+
		`"backoff":{"type":"linear","base":"1us","cap":"1us"},"wake":{"reads":"ready","spread":"1us","hold_off":"1us","max_vain":1}}},`+
		`"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`)
	w := &waiting{t: t, doc: doc, call: read0(1)}
	w.attempt(0, strange)
	steps := 1
	for w.last.DelayUS > 0 {
		w.down(0, 0)
		steps++
	}
	if steps != abi.MaxAttempts+1 {
		t.Errorf("the attempt is made after %d steps", steps)
	}
}

// Whatever a host says it has seen, and whatever its clock does: no more than
// the schedule's attempts and three, and no more sleep than the window has.
func TestWatchingIsSafe(t *testing.T) {
	doc := steady(t, "60s")
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.SampledFrom([]abi.Call{read0(1), write0(1)}).Draw(t, "call")
		w := wait0(t, doc, call)
		attempts, slept, before := 1, int64(0), w.now
		for w.last.Type == abi.Retry {
			delay := w.last.DelayUS
			late := rapid.SampledFrom([]int64{0, 0, 0, -5000, 5000}).Draw(t, "late")
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case w.last.Wake != nil && what == 0:
				w.wake(rapid.Int64Range(0, delay).Draw(t, "when"), drawReadiness(t), drawChance(t))
				slept += w.now - before
			case w.last.Wake != nil && what < 3:
				w.down(max(late, -delay), drawChance(t))
				slept += delay
			default:
				w.attempt(delay, refused)
				attempts++
				slept += delay
			}
			before = w.now
		}
		if limit := 11 + 3; attempts > limit || slept > 60*million {
			t.Fatalf("%d attempts, %d µs slept: %s", attempts, slept, w.last.Encode())
		}
		if attempts < 2 {
			t.Fatalf("the deadline had no attempt: %s", w.last.Encode())
		}
	})
}
