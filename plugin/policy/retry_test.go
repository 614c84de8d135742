package policy

import (
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/abi/strictjson"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Budgets of attempts.

func TestAttemptsAreBounded(t *testing.T) {
	for _, c := range []struct {
		name     string
		call     abi.Call
		result   abi.Result
		attempts int64
		budget   string
	}{
		{"the cap", write0(1), capped, 6, "admission_cap"},
		{"recovery, a read", read0(1), recovering, 6, "recovery"},
		{"a conflict", write0(1), lostRace, 8, "conflict"},
	} {
		for _, name := range readers {
			p := play(t, builtin(t, name), c.call, always(step{0, c.result}))
			checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonAttempts)
			if o := p.outcome; o.Attempts != c.attempts || o.BudgetAttempts != c.attempts || o.Budget != c.budget || o.Effects != abi.EffectsNone {
				t.Errorf("%s by %s: %s", c.name, name, o.Encode())
			}
		}
	}
}

// Each kind spends its own budget: none is charged for another's failures.
func TestBudgetsAreIndependent(t *testing.T) {
	var steps []step
	for range 5 {
		steps = append(steps, step{0, capped}, step{0, lostRace}, step{0, recovering})
	}
	p := play(t, steady(t, "150s"), read0(1), inOrder(append(steps, step{0, done})...))
	checkOutcome(t, p, abi.OutcomeOK, "")
	var waits []int64
	for _, a := range p.retries {
		if a.Budget != "conflict" {
			waits = append(waits, a.DelayUS)
		}
	}
	want := []int64{250_000, 200_000, 500_000, 400_000, million, 800_000, 2 * million, 1_600_000, 4 * million, 3_200_000}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("delays of the cap and of recovery (-want +got):\n%s", diff)
	}
}

// The schedule goes by the failures on the budget, not by the call's.
func TestTheScheduleCountsItsOwnFailures(t *testing.T) {
	p := play(t, steady(t, "150s"), read0(1), inOrder(step{0, capped}, step{0, capped}, step{0, capped}, step{0, refused}, step{0, refused}, step{0, done}))
	if p.retries[3].DelayUS != 500_000 || p.retries[4].DelayUS != million {
		t.Errorf("the first delays of unavailable are %d and %d", p.retries[3].DelayUS, p.retries[4].DelayUS)
	}
}

// Retry-After.

// capAgain is what the policy makes of a cap with a Retry-After, as the first
// failure of a call.
func capAgain(t tb, doc *Document, call abi.Call, micros int64, random int64) abi.Action {
	result := after(micros)
	action, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, NowUS: started0, Random: &random, Result: &result})
	return action
}

func TestRetryAfterReplacesTheSchedule(t *testing.T) {
	doc := builtin(t, "omnigraph")
	for _, c := range []struct{ asked, random, want int64 }{
		{60 * million, 0, 60 * million},
		{60 * million, lastChance, 66_000_000}, // upwards only
		{1, lastChance, 250_000},               // never before the schedule
		{0, 0, 275_000},
		{0, lastChance, 250_000},
		{260_000, 0, 275_000},
		{260_000, lastChance, 286_000},
		{120 * million, lastChance, 132_000_000}, // the bound is for what is asked
	} {
		action := capAgain(t, doc, write0(1), c.asked, c.random)
		if action.Type != abi.Retry || action.DelayUS != c.want || action.Budget != "admission_cap" {
			t.Errorf("asked for %d: %s", c.asked, action.Encode())
		}
	}
}

func TestNegativeRetryAfterIsIgnored(t *testing.T) {
	for _, asked := range []int64{-1, -60 * million, -strictjson.MaxInteger} {
		for _, name := range readers {
			if action := capAgain(t, builtin(t, name), write0(1), asked, 1<<31); action.DelayUS < 250_000 || action.DelayUS > 275_000 {
				t.Errorf("%s, asked for %d: %s", name, asked, action.Encode())
			}
		}
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	for _, asked := range []int64{120*million + 1, 3600 * million, strictjson.MaxInteger} {
		action := capAgain(t, builtin(t, "omnigraph"), write0(1), asked, 0)
		o := action.Outcome
		if action.Type != abi.Stop || o.Type != abi.OutcomeExhausted || o.Reason != abi.ReasonRetryAfter || *o.RetryAfterUS != asked || o.Attempts != 1 {
			t.Errorf("asked for %d: %s", asked, action.Encode())
		}
		if !strings.Contains(o.Message, "the server asked for "+seconds(asked)+", longer than the 120s that is waited for") {
			t.Errorf("it says %q", o.Message)
		}
	}
	// witan-core has no such bound: any is obeyed.
	if action := capAgain(t, builtin(t, "witan-core"), write0(1), 3600*million, 0); action.Type != abi.Retry || action.DelayUS != 3600*million {
		t.Errorf("got %s", action.Encode())
	}
}

func TestRetryAfterLongerThanTheCallHasLeft(t *testing.T) {
	for _, name := range readers {
		doc := builtin(t, name)
		action := capAgain(t, doc, with(write0(1), 30*time.Second), 30*million+1, 0)
		o := action.Outcome
		if action.Type != abi.Stop || o.Reason != abi.ReasonCall || *o.RetryAfterUS != 30*million+1 || o.Attempts != 1 {
			t.Errorf("%s: %s", name, action.Encode())
		}
		if !strings.Contains(o.Message, "the server asked for 30 s") || !strings.Contains(o.Message, "the call's own budget of 30 s") {
			t.Errorf("%s says %q", name, o.Message)
		}
		// As long as what is left is not longer, and jitter is cut to it.
		for _, random := range []int64{0, lastChance} {
			if action := capAgain(t, doc, with(write0(1), 30*time.Second), 30*million, random); action.Type != abi.Retry || action.DelayUS != 30*million {
				t.Errorf("%s: %s", name, action.Encode())
			}
		}
	}
}

func TestRetryAfterCountsAsAnAttempt(t *testing.T) {
	p := play(t, builtin(t, "omnigraph"), write0(1), always(step{0, after(0)}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonAttempts)
	if p.outcome.Attempts != 6 || p.outcome.RetryAfterUS != nil {
		t.Errorf("got %s", p.outcome.Encode())
	}
}

func TestRetryAfterIsHeardOnlyWhereTheBudgetSays(t *testing.T) {
	result := refused
	result.RetryAfterUS = &[]int64{60 * million}[0]
	p := play(t, steady(t, "150s"), read0(1), inOrder(step{0, result}, step{0, done}))
	if p.retries[0].DelayUS != 500_000 {
		t.Errorf("unavailable obeys a Retry-After: %d", p.retries[0].DelayUS)
	}
}

func TestAnyRetryAfterIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := write0(1)
		call.BudgetUS = rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, strictjson.MaxInteger)).Draw(t, "budget")
		asked := rapid.OneOf(rapid.Int64Range(-10, 200*million), rapid.Int64Range(-strictjson.MaxInteger, strictjson.MaxInteger)).Draw(t, "asked")
		for i := range builtIns {
			action := capAgain(t, builtIns[i].document(), call, asked, drawChance(t))
			if action.Type == abi.Retry && asked >= 0 && (action.DelayUS < asked || call.BudgetUS > 0 && action.DelayUS > call.BudgetUS) {
				t.Fatalf("asked for %d of %d: %s", asked, call.BudgetUS, action.Encode())
			}
		}
	})
}

// How a budget meets the call's own.

func TestCallBudgetModes(t *testing.T) {
	// One attempt was made, and left µs are left of the call; the delay is 1 s.
	decide := func(mode string, left int64) abi.Action {
		doc := parsed(t, `{"version":1,"name":"x","budgets":{"b":{"attempts":5,"call_budget":"`+mode+`",`+
			`"backoff":{"type":"linear","base":"1s","cap":"1s"}}},"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`)
		call := with(read0(1), 100*time.Second)
		begin := int64(0)
		call.StartedUS = &begin
		action, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, NowUS: 100*million - left, Result: &strange})
		return action
	}
	const stop = -1
	for _, c := range []struct {
		mode string
		left int64
		want int64
	}{
		{"ignore", 2 * million, million}, {"ignore", million, million}, {"ignore", 1, million}, {"ignore", 0, million}, {"ignore", -5, million},
		{"clamp", 2 * million, million}, {"clamp", million, million}, {"clamp", million - 1, million - 1}, {"clamp", 1, 1}, {"clamp", 0, stop}, {"clamp", -5, stop},
		{"stop_above", million + 1, million}, {"stop_above", million, million}, {"stop_above", million - 1, stop}, {"stop_above", 0, stop}, {"stop_above", -5, stop},
		{"stop_at", million + 1, million}, {"stop_at", million, stop}, {"stop_at", million - 1, stop}, {"stop_at", 0, stop}, {"stop_at", -5, stop},
	} {
		action := decide(c.mode, c.left)
		switch {
		case c.want == stop && (action.Type != abi.Stop || action.Outcome.Reason != abi.ReasonCall || action.Outcome.Type != abi.OutcomeExhausted):
			t.Errorf("%s with %d left: %s", c.mode, c.left, action.Encode())
		case c.want != stop && (action.Type != abi.Retry || action.DelayUS != c.want):
			t.Errorf("%s with %d left: %s", c.mode, c.left, action.Encode())
		}
	}
}

// witan-core's restart budget does not know the call's, its conflicts stop at it.
func TestCallBudgetByWitanCore(t *testing.T) {
	p := play(t, builtin(t, "witan-core"), with(read0(1), 5*time.Second), downUntil(61*time.Second, 0))
	checkOutcome(t, p, abi.OutcomeOK, "")
	p = play(t, builtin(t, "witan-core"), with(read0(1), 3*time.Second), always(step{500 * ms, recovering}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonAttempts)
	p = play(t, builtin(t, "witan-core"), with(write0(1), 500*ms), always(step{500 * ms, lostRace}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
	checkStarts(t, p, at(0))
}

// Repair.

func localWrite() abi.Call {
	call := write0(1)
	call.Remote = false
	return call
}

func TestRepairOnce(t *testing.T) {
	p := play(t, builtin(t, "omnigraph"), localWrite(), inOrder(step{0, drifted}, step{2 * time.Second, done}, step{0, done}))
	checkOutcome(t, p, abi.OutcomeOK, "")
	checkStarts(t, p, at(0, 2))
	a := p.retries[0]
	if !a.Repair || a.RepairForce || a.DelayUS != 0 || a.Budget != "conflict" || a.Kind != "needs_repair" || a.Attempt != 2 {
		t.Errorf("got %s", a.Encode())
	}
	if a := p.retries[1]; a.Repair || a.DelayUS != 0 || a.Attempt != 2 {
		t.Errorf("after the repair: %s", a.Encode())
	}
	// A second time there is only the remedy.
	p = play(t, builtin(t, "omnigraph"), localWrite(), func(a *abi.Action, _ time.Duration) step {
		if a.Repair {
			return step{0, done}
		}
		return step{0, drifted}
	})
	checkOutcome(t, p, abi.OutcomeFailed, "")
	if len(p.repairs) != 1 || p.outcome.Attempts != 2 || p.outcome.Kind != "needs_repair" || p.outcome.Effects != abi.EffectsNone || p.outcome.Remedy == "" {
		t.Errorf("after %d repairs: %s", len(p.repairs), p.outcome.Encode())
	}
}

func TestRepairCountsAmongTheConflicts(t *testing.T) {
	steps := []step{{0, drifted}, {0, done}}
	for range 6 {
		steps = append(steps, step{0, lostRace})
	}
	p := play(t, builtin(t, "omnigraph"), localWrite(), inOrder(append(steps, step{0, done})...))
	checkOutcome(t, p, abi.OutcomeOK, "")
	p = play(t, builtin(t, "omnigraph"), localWrite(), inOrder(append(steps, step{0, lostRace}, step{0, done})...))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonAttempts)
	if p.outcome.Attempts != 8 || p.outcome.BudgetAttempts != 8 {
		t.Errorf("got %s", p.outcome.Encode())
	}
}

func TestRepairIsForALocalWriteOnly(t *testing.T) {
	for _, call := range []abi.Call{write0(1), read0(1), {ConnectRetry: true}} {
		p := play(t, builtin(t, "omnigraph"), call, always(step{0, drifted}))
		checkOutcome(t, p, abi.OutcomeFailed, "")
		if len(p.repairs) > 0 || p.outcome.Attempts != 1 || !strings.Contains(p.outcome.Remedy, "omnigraph repair") {
			t.Errorf("got %s", p.outcome.Encode())
		}
	}
}

func TestRepairThatFails(t *testing.T) {
	sick := *exited(1, printed("the repair cannot open the store"), "")
	p := play(t, builtin(t, "omnigraph"), localWrite(), inOrder(step{0, drifted}, step{0, sick}))
	checkOutcome(t, p, abi.OutcomeFailed, abi.ReasonRepairFailed)
	if o := p.outcome; o.Attempts != 1 || o.Kind != "needs_repair" || o.LastError != "the repair cannot open the store" || o.Effects != abi.EffectsNone {
		t.Errorf("got %s", o.Encode())
	}
	// witan-core goes on, and forces each.
	p = play(t, builtin(t, "witan-core"), localWrite(), func(a *abi.Action, _ time.Duration) step {
		if a.Repair && !a.RepairForce {
			t.Error("a repair without force")
		}
		if a.Repair {
			return step{0, sick}
		}
		return step{0, drifted}
	})
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonAttempts)
	if len(p.repairs) != 7 || p.outcome.Attempts != 8 {
		t.Errorf("%d repairs: %s", len(p.repairs), p.outcome.Encode())
	}
}

func TestRepairDoesNotBeginAfterTheCallsBudget(t *testing.T) {
	p := play(t, builtin(t, "omnigraph"), with(localWrite(), time.Second), always(step{time.Second, drifted}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonCall)
	if len(p.repairs) != 0 {
		t.Errorf("%d repairs", len(p.repairs))
	}
}

// What depends on the call.

func TestNoWaitForALocalStoreOrWithoutConnectRetry(t *testing.T) {
	local, impatient := read0(1), read0(1)
	local.Remote = false
	impatient.ConnectRetry = false
	for name, call := range map[string]abi.Call{"local": local, "connect_retry off": impatient} {
		for _, write := range []bool{false, true} {
			call.Write = write
			for _, policy := range readers {
				p := play(t, builtin(t, policy), call, always(step{0, refused}))
				checkOutcome(t, p, abi.OutcomeFailed, "")
				if o := p.outcome; o.Attempts != 1 || o.Kind != "unavailable" || o.Effects != abi.EffectsNone {
					t.Errorf("%s by %s: %s", name, policy, o.Encode())
				}
			}
		}
	}
	// A broken connection, a proxy and a time limit are no different.
	for _, result := range []abi.Result{broken, proxied, timedOut} {
		for _, call := range []abi.Call{local, impatient} {
			call.Write = false
			if p := play(t, builtin(t, "omnigraph"), call, always(step{0, result})); p.outcome.Type != abi.OutcomeFailed || p.outcome.Attempts != 1 {
				t.Errorf("got %s", p.outcome.Encode())
			}
		}
	}
}

func TestSurfaceConflict(t *testing.T) {
	claim := write0(1)
	claim.SurfaceConflict = true
	stale := *exited(4, "precondition failed on branch 'main': expected head 'X' but current is Y\n", "")
	for _, name := range readers {
		for _, result := range []abi.Result{lostRace, stale} {
			p := play(t, builtin(t, name), claim, always(step{0, result}))
			checkOutcome(t, p, abi.OutcomeConflict, "")
			if p.outcome.Attempts != 1 || p.outcome.Effects != abi.EffectsNone {
				t.Errorf("%s: %s", name, p.outcome.Encode())
			}
		}
		// It is no reason not to wait for a server that is away, or at its cap.
		p := play(t, builtin(t, name), claim, inOrder(step{0, refused}, step{0, refused}, step{0, capped}, step{0, done}))
		checkOutcome(t, p, abi.OutcomeOK, "")
		p = play(t, builtin(t, name), write0(1), always(step{0, stale}))
		checkOutcome(t, p, abi.OutcomePreconditionFailed, "")
	}
}

// What has reached the user must not be shown twice.
func TestStreamedIsNotTriedAgain(t *testing.T) {
	for _, result := range []abi.Result{refused, capped, broken, recovering} {
		result.Streamed = true
		p := play(t, builtin(t, "omnigraph"), read0(1), always(step{0, result}))
		checkOutcome(t, p, abi.OutcomeFailed, abi.ReasonStreamed)
		if p.outcome.Attempts != 1 {
			t.Errorf("got %s", p.outcome.Encode())
		}
	}
	ok := done
	ok.Streamed = true
	p := play(t, builtin(t, "omnigraph"), read0(1), always(step{0, ok}))
	checkOutcome(t, p, abi.OutcomeOK, "")
}
