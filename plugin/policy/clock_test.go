package policy

import (
	"testing"
	"time"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The tests in this file are the rules of the clock, and what users of other
// retry tools report that they ran into.

func checkStarts(t *testing.T, p played, want []time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, p.starts); diff != "" {
		t.Errorf("attempts start at (-want +got):\n%s", diff)
	}
}

func checkOutcome(t *testing.T, p played, kind abi.OutcomeType, reason string) {
	t.Helper()
	if p.outcome.Type != kind || p.outcome.Reason != reason {
		t.Errorf("the outcome is %s: %s; want %s: %s", p.outcome.Type, p.outcome.Reason, kind, reason)
	}
}

func TestScheduleOfConnectFailuresAtOnce(t *testing.T) {
	p := play(t, steady(t, "75s"), read0(1), always(step{0, refused}))
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 65.5, 75.0))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
	if p.end != 75*time.Second {
		t.Errorf("it ends at %v", p.end)
	}
}

func TestScheduleOfSlowConnectFailures(t *testing.T) {
	p := play(t, steady(t, "60s"), read0(1), always(step{3 * time.Second, refused}))
	checkStarts(t, p, at(0, 3.5, 7.5, 12.5, 19.5, 30.5, 43.5, 56.5, 63.0))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
}

// Rule 1. Many tools count from the call's start, so that an operation which
// ran long before it failed is never retried.
func TestRule1TheWindowOpensWhenTheFirstFailureIsSeen(t *testing.T) {
	doc := steady(t, "60s")
	first := true
	p := play(t, doc, read0(1), func(_ *abi.Action, now time.Duration) step {
		if first {
			first = false
			return step{61 * time.Second, refused}
		}
		return downUntil(63*time.Second, 0)(nil, now)
	})
	checkStarts(t, p, at(0, 61.5, 62.5, 64.5))
	checkOutcome(t, p, abi.OutcomeOK, "")
}

func TestRule1OtherRetriesDoNotShortenTheWindow(t *testing.T) {
	p := play(t, steady(t, "5s"), read0(1), inOrder(step{20 * time.Second, capped}, step{20 * time.Second, recovering}, step{0, refused}))
	checkStarts(t, p, at(0, 20.25, 40.45, 40.95, 41.95, 43.95, 45.45))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
	if p.outcome.BudgetSpentUS != 5*million || p.outcome.BudgetAttempts != 5 || p.outcome.Attempts != 7 {
		t.Errorf("got %s", p.outcome.Encode())
	}
}

// A result that shows the server itself ends the outage: what comes after is
// another, whose schedule starts at the base.
func TestRule1ContactClosesTheWindow(t *testing.T) {
	for name, contact := range map[string]abi.Result{"the cap": capped, "a conflict": lostRace, "recovery": recovering, "a broken connection": broken} {
		steps := []step{{0, refused}, {0, refused}, {0, refused}, {0, contact}, {0, refused}, {0, refused}, {0, done}}
		p := play(t, steady(t, "5s"), read0(1), inOrder(steps...))
		checkOutcome(t, p, abi.OutcomeOK, "")
		want := []int64{500_000, million, 2 * million, 0, 500_000, million}
		if contact.Stderr == broken.Stderr {
			want[3], want[4], want[5] = 500_000, million, 2*million // it counts itself, in the new window
		}
		for i, a := range p.retries {
			if want[i] > 0 && a.DelayUS != want[i] {
				t.Errorf("%s: delay %d is %d, want %d", name, i, a.DelayUS, want[i])
			}
		}
	}
}

func TestRule1TheClosedWindowIsGivenBackWhole(t *testing.T) {
	p := play(t, steady(t, "5s"), read0(1), inOrder(
		step{0, refused}, step{0, refused}, step{0, refused}, step{0, refused}, // at 0, 0.5, 1.5, 3.5
		step{0, broken}, // at 5, which is the deadline
		step{0, refused}))
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 5, 5.5, 6.5, 8.5, 10))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
}

func TestRule1AFourthWindowStops(t *testing.T) {
	steps := []step{}
	for range 3 {
		steps = append(steps, step{0, refused}, step{0, capped})
	}
	p := play(t, steady(t, "5s"), read0(1), inOrder(append(steps, step{0, refused})...))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindows)
	if p.outcome.Attempts != 7 || p.outcome.BudgetAttempts != 4 || p.outcome.Kind != "unavailable" {
		t.Errorf("got %s", p.outcome.Encode())
	}
	p = play(t, steady(t, "5s"), read0(1), inOrder(append(steps, step{0, done})...))
	checkOutcome(t, p, abi.OutcomeOK, "")
}

// A read that kills the server must not be repeated for ever.
func TestRule1TheThirdBrokenConnectionStops(t *testing.T) {
	p := play(t, steady(t, "150s"), read0(1), always(step{0, broken}))
	checkStarts(t, p, at(0, 0.5, 1.0)) // each opens a window, so the delay stays at the base
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonBroken)
	if p.outcome.Kind != "interrupted" || p.outcome.Effects != abi.EffectsNone {
		t.Errorf("got %s", p.outcome.Encode())
	}
	p = play(t, steady(t, "150s"), read0(1), inOrder(step{0, broken}, step{0, refused}, step{0, broken}, step{0, refused}, step{0, broken}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonBroken)
	p = play(t, steady(t, "150s"), read0(1), inOrder(step{0, broken}, step{0, broken}, step{0, done}))
	checkOutcome(t, p, abi.OutcomeOK, "")
	// The server's other answers are none.
	p = play(t, steady(t, "150s"), read0(1), inOrder(step{0, capped}, step{0, lostRace}, step{0, recovering}, step{0, broken}, step{0, done}))
	checkOutcome(t, p, abi.OutcomeOK, "")
}

// They are no contact with the server: a proxy answers in its place, and a time
// limit says nothing.
func TestRule1ProxiesAndTimeLimitsNeitherCloseNorCount(t *testing.T) {
	for name, result := range map[string]abi.Result{
		"a proxy": proxied, "a time limit": timedOut, "502": *answered(502, "bad gateway"), "503": *answered(503, ""), "504": *answered(504, "<html>"),
		"a line of 0.13": *exited(1, "upstream failed\nHTTP 502\n", ""),
	} {
		p := play(t, steady(t, "75s"), read0(1), always(step{0, result}))
		if diff := cmp.Diff(at(0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 65.5, 75.0), p.starts); diff != "" {
			t.Errorf("%s: attempts start at (-want +got):\n%s", name, diff)
		}
		checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
		// Nor does one between two connect failures.
		p = play(t, steady(t, "5s"), read0(1), inOrder(step{0, refused}, step{0, result}, step{0, refused}))
		checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 5))
	}
}

// Rule 2. Other tools skip the sleep that would pass the deadline, and so give
// up early, or sleep it and pass the deadline.
func TestRule2TheDeadlineItselfGetsAnAttempt(t *testing.T) {
	p := play(t, steady(t, "5s"), read0(1), always(step{0, refused}))
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 5.0))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
	p = play(t, steady(t, "5s"), read0(1), downUntil(5*time.Second, 0))
	checkOutcome(t, p, abi.OutcomeOK, "")
	p = play(t, steady(t, "60s"), read0(1), downUntil(59_900*ms, 0))
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 60))
	checkOutcome(t, p, abi.OutcomeOK, "")
}

func TestRule2AnAttemptThatEndsAtTheDeadlineIsTheLast(t *testing.T) {
	p := play(t, steady(t, "5s"), read0(1), func(_ *abi.Action, now time.Duration) step {
		if now == 3500*ms {
			return step{1500 * ms, refused}
		}
		return step{0, refused}
	})
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
	p = play(t, steady(t, "5s"), read0(1), func(_ *abi.Action, now time.Duration) step {
		if now == 3500*ms {
			return step{1499_999 * time.Microsecond, refused}
		}
		return step{0, refused}
	})
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 5))
}

// An attempt that began at 55.5 and failed at 58.5 is followed by a sleep of 1.5 s.
func TestRule2TheAttemptsOwnTimeCounts(t *testing.T) {
	p := play(t, steady(t, "60s"), read0(1), func(_ *abi.Action, now time.Duration) step {
		if now == 55_500*ms {
			return step{3 * time.Second, refused}
		}
		return step{0, refused}
	})
	last := p.retries[len(p.retries)-1]
	if last.DelayUS != 1_500_000 || *last.RemainingUS != 1_500_000 {
		t.Errorf("the last delay is %d of %d", last.DelayUS, *last.RemainingUS)
	}
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 60))
}

// Rule 3.
func TestRule3TheCallsBudgetRunsFromItsStart(t *testing.T) {
	early := int64(started0 - 4*million) // it waited 4 s for a lock
	call := with(read0(1), 9*time.Second)
	call.StartedUS = &early
	p := play(t, steady(t, "150s"), call, always(step{0, refused}))
	checkStarts(t, p, at(4, 4.5, 5.5, 7.5, 9))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
	if p.outcome.ElapsedUS != 9*million || p.outcome.Budget != "unavailable" {
		t.Errorf("got %s", p.outcome.Encode())
	}
}

func TestRule3TheCallsBudgetKillsNoAttempt(t *testing.T) {
	p := play(t, steady(t, "150s"), with(read0(1), 5*time.Second), inOrder(step{0, refused}, step{60 * time.Second, done}))
	checkOutcome(t, p, abi.OutcomeOK, "")
	p = play(t, steady(t, "150s"), with(read0(1), 5*time.Second), always(step{60 * time.Second, refused}))
	checkStarts(t, p, at(0))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
}

func TestRule3EveryBudgetIsClamped(t *testing.T) {
	for name, result := range map[string]abi.Result{"unavailable": refused, "recovery": recovering, "conflict": lostRace} {
		call := with(read0(1), 600*ms)
		random := int64(0) // the longest delays
		if name == "conflict" {
			random = lastChance
		}
		now, state := int64(0), ""
		for {
			action, next := ask(t, builtin(t, "omnigraph"), &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Random: &random, Result: &result})
			if action.Type == abi.Stop {
				if action.Outcome.Reason != abi.ReasonCall || now != 600_000 || action.Outcome.Budget != name {
					t.Errorf("%s: at %d: %s", name, now, action.Encode())
				}
				break
			}
			now, state = now+action.DelayUS, next
		}
	}
}

func TestRule3TheCallsBudgetWinsATie(t *testing.T) {
	p := play(t, steady(t, "5s"), with(read0(1), 5*time.Second), always(step{0, refused}))
	checkStarts(t, p, at(0, 0.5, 1.5, 3.5, 5))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
	p = play(t, steady(t, "5s"), with(read0(1), 5*time.Second+1000), always(step{0, refused}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonWindow)
	// The eighth conflict is the last of its budget, and ends the call's in the
	// same instant.
	lost := always(step{100 * ms, lostRace})
	last := play(t, steady(t, "5s"), write0(3), lost)
	checkOutcome(t, last, abi.OutcomeExhausted, abi.ReasonAttempts)
	p = play(t, steady(t, "5s"), with(write0(3), last.end), lost)
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
	if p.outcome.Attempts != 8 {
		t.Errorf("%d attempts", p.outcome.Attempts)
	}
}

// Rule 4 is in backoff_test.go.

// Rule 5.
func TestRule5AClockThatGoesBackAddsNothing(t *testing.T) {
	doc, call := steady(t, "5s"), read0(1)
	now, state, attempts := int64(0), "", 0
	for {
		action, next := ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &refused})
		attempts++
		if action.Type == abi.Stop {
			break
		}
		now, state = now-100*million, next // each wait looks like one of -100 s
	}
	if attempts != 5 {
		t.Errorf("%d attempts, want 5: what was asked for counts", attempts)
	}
}

// After it went back a clock goes on from where it is.
func TestRule5AClockThatWentBackGoesOn(t *testing.T) {
	doc, call := steady(t, "60s"), read0(1)
	state, left := "", int64(0)
	for i, now := range []int64{100 * million, 90 * million, 93 * million} {
		action, next := ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &refused})
		if state, left = next, *action.RemainingUS; i == 1 && left != 59_500_000 {
			t.Errorf("when it is back, %d µs are left", left)
		}
	}
	if left != 56_500_000 { // the wait of 0.5 s, and 3 s
		t.Errorf("%d µs are left", left)
	}
}

func TestRule5AClockThatStandsStillSpends(t *testing.T) {
	doc, call := steady(t, "5s"), read0(1)
	state, attempts := "", 0
	for {
		action, next := ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: 42, Result: &refused})
		attempts++
		if action.Type == abi.Stop {
			if action.Outcome.BudgetSpentUS != 5*million || action.Outcome.ElapsedUS != 5*million {
				t.Errorf("got %s", action.Encode())
			}
			break
		}
		state = next
	}
	if attempts != 5 {
		t.Errorf("%d attempts, want 5", attempts)
	}
}

// A timer fires early at the deadline, and the clock stands still there: no
// tight loop, and no attempt more.
func TestRule5AnEarlyTimerBuysNoAttempt(t *testing.T) {
	doc, call := steady(t, "5s"), read0(1)
	now, state, attempts := int64(0), "", 0
	for {
		action, next := ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &refused})
		attempts++
		if action.Type == abi.Stop {
			break
		}
		now, state = now+max(0, action.DelayUS-5000), next // 5 ms early
	}
	if attempts != 5 {
		t.Errorf("%d attempts, want 5", attempts)
	}
}

func TestRule5AJumpOverTheDeadlineGivesOneAttempt(t *testing.T) {
	doc, call := steady(t, "60s"), read0(1)
	event := &abi.Event{Type: abi.Attempted, Result: &refused}
	_, state := ask(t, doc, &call, "", event)
	event.NowUS = 3600 * million // the machine was asleep in the first wait
	action, _ := ask(t, doc, &call, state, event)
	if action.Type != abi.Stop || action.Outcome.Reason != abi.ReasonWindow || action.Outcome.Attempts != 2 || action.Outcome.BudgetSpentUS != 3600*million {
		t.Errorf("got %s", action.Encode())
	}
	event.Result, event.NowUS = &done, 3600*million
	if action, _ := ask(t, doc, &call, state, event); action.Outcome.Type != abi.OutcomeOK {
		t.Errorf("got %s", action.Encode())
	}
}

func TestRule5AClockThatStepsBackNeverLengthensTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, call := jitterless60, read0(1)
		now, state, slept := int64(0), "", int64(0)
		for {
			action, next := ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &refused})
			if action.Type == abi.Stop {
				break
			}
			slept += action.DelayUS
			state = next
			now += action.DelayUS - rapid.SampledFrom([]int64{0, 0, 1, 5000, million, 100 * million, 1 << 40}).Draw(t, "step back")
		}
		if slept > 60*million {
			t.Fatalf("it slept %d µs of 60 s", slept)
		}
	})
}

var jitterless60 = func() *Document {
	doc, err := builtIns[0].document().WithMaxWait(60 * million)
	if err != nil {
		panic(err)
	}
	return doc
}()

// Rule 6.
func TestRule6NeverMoreThanTenThousandAttempts(t *testing.T) {
	endless := parsed(t, `{"version":1,"name":"endless","budgets":{"b":{"max_wait":"9007199254740991us","backoff":{"type":"linear","base":"1us","cap":"1us"}}},`+
		`"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`)
	call := read0(1)
	state, attempts := "", 0
	for {
		action, next, err := Decide(endless, &call, state, &abi.Event{Type: abi.Attempted, NowUS: 5, Result: &strange}, false)
		if err != nil {
			t.Fatal(err)
		}
		attempts++
		if action.Type == abi.Stop {
			o := action.Outcome
			if attempts != abi.MaxAttempts || o.Type != abi.OutcomeExhausted || o.Reason != abi.ReasonMaxAttempts || o.Attempts != abi.MaxAttempts {
				t.Errorf("%d attempts: %s", attempts, action.Encode())
			}
			if o.History[7].Attempt != abi.MaxAttempts || o.History[4].Attempt != abi.MaxAttempts-3 || o.History[3].Attempt != 4 {
				t.Errorf("history: %+v", o.History)
			}
			return
		}
		if len(next) > abi.MaxStateBytes {
			t.Fatalf("a state of %d bytes", len(next))
		}
		state = next
	}
}
