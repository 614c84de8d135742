package policy

import (
	"testing"

	"outlast/abi"
	"outlast/abi/strictjson"

	"pgregory.net/rapid"
)

// known is a result with what is known of it apart from the policy.
type known struct {
	result  abi.Result
	unknown bool // a write may have been applied
}

var pool = []known{
	{refused, false}, {refused, false}, {refused, false}, {refused, false}, {broken, true}, {proxied, true}, {capped, false}, {lostRace, false},
	{recovering, true}, {drifted, false}, {usage, false}, {strange, true}, {panicked, true}, {killed, true}, {timedOut, true},
	{abi.Result{Signal: "SIGINT"}, true}, {*answered(503, "busy"), true}, {*answered(500, "graph is loading"), true}, {*answered(503, "graph is loading"), false},
	{unsent(refused), false}, {*exited(75, "", ""), true}, {*exited(75, "x\nHTTP 429\n"+tryAgain+"\n", ""), false},
	{*exited(1, "server discovery timed out\n"+noEffects+"\n", ""), false}, {*exited(1, "graph is loading\nHTTP 503\n"+unknownEffects+"\n", ""), true},
}

// unsent is a result of which the host knows that nothing left the caller.
func unsent(r abi.Result) abi.Result {
	r.Sent = abi.SentNo
	return r
}

func drawCall(t *rapid.T) abi.Call {
	seed := rapid.Int64Range(0, strictjson.MaxInteger).Draw(t, "seed")
	call := abi.Call{
		Remote:          rapid.IntRange(0, 3).Draw(t, "local") > 0,
		Write:           rapid.Bool().Draw(t, "write"),
		SurfaceConflict: rapid.IntRange(0, 3).Draw(t, "surface_conflict") == 0,
		ConnectRetry:    rapid.IntRange(0, 3).Draw(t, "connect_retry") > 0,
		Seed:            &seed,
		OneRequest:      rapid.SampledFrom([]*bool{nil, nil, new(true), new(false)}).Draw(t, "one_request"),
		Repeatable:      rapid.IntRange(0, 3).Draw(t, "repeatable") == 0,
	}
	if rapid.Bool().Draw(t, "there is a budget") {
		call.BudgetUS = rapid.OneOf(rapid.Int64Range(1, 300*million), rapid.Int64Range(1, strictjson.MaxInteger)).Draw(t, "budget")
	}
	if rapid.Bool().Draw(t, "it says when it started") {
		start := rapid.Int64Range(-100*million, 100*million).Draw(t, "started")
		call.StartedUS = &start
	}
	return call
}

// journey is a call on its way, with what must hold of it.
type journey struct {
	doc   *Document
	call  abi.Call
	state string
	now   int64
	last  abi.Action

	attempts int64
	slept    []int64 // in each budget's open window
	opened   []int64
}

// step sends one event and checks the answer.
func (j *journey) step(t *rapid.T, e abi.Event) {
	waited := j.wait(&e)
	e.NowUS = j.now
	action, state := ask(t, j.doc, &j.call, j.state, &e)
	if action.Type == abi.Retry {
		j.account(t, &e, waited, state)
	}
	j.last, j.state = action, state
}

// wait is how long the call slept before an event, as far as its clock told.
func (j *journey) wait(e *abi.Event) int64 {
	switch {
	case j.state == "" || e.Type == abi.Cancelled:
		return 0
	case e.Type == abi.Woken:
		before, _ := decodeState(j.doc, j.state)
		return min(max(0, j.now-before.last), j.last.DelayUS)
	}
	return j.last.DelayUS
}

// account holds that what is slept in a window is never more than the window.
func (j *journey) account(t *rapid.T, e *abi.Event, waited int64, state string) {
	s, err := decodeState(j.doc, state)
	if err != nil {
		t.Fatal(err)
	}
	if j.slept == nil {
		j.slept, j.opened = make([]int64, len(s.budgets)), make([]int64, len(s.budgets))
	}
	for i, b := range s.budgets {
		if b.opened > j.opened[i] {
			j.opened[i], j.slept[i] = b.opened, 0
			continue
		}
		if int64(i) == spentOn(j.last.Budget, j.doc) {
			j.slept[i] += waited
		}
		if limit := j.doc.Budgets[i].MaxWait; limit > 0 && j.slept[i] > limit {
			t.Fatalf("%d µs slept in a window of %d", j.slept[i], limit)
		}
		if limit := j.doc.Budgets[i].Windows; limit > 0 && b.opened > limit {
			t.Fatalf("%d windows of %d", b.opened, limit)
		}
		if limit := j.doc.Budgets[i].Attempts; limit > 0 && b.count >= limit {
			t.Fatalf("a retry after %d attempts of %d", b.count, limit)
		}
		if wake := j.doc.Budgets[i].Wake; b.vain > 0 && b.vain > wake.MaxVain {
			t.Fatalf("%d vain wakes of %d", b.vain, wake.MaxVain)
		}
	}
}

func spentOn(budget string, doc *Document) int64 { return int64(doc.budgetIndex(budget)) }

// tick lets time pass: sometimes as it should, sometimes not.
func (j *journey) tick(t *rapid.T) {
	var passed int64
	switch rapid.IntRange(0, 9).Draw(t, "clock") {
	case 0: // it stands still
	case 1:
		passed = -rapid.Int64Range(1, 1000*million).Draw(t, "back")
	case 2:
		passed = rapid.Int64Range(0, 1<<45).Draw(t, "jump")
	case 3:
		passed = max(0, j.last.DelayUS-rapid.Int64Range(0, 20_000).Draw(t, "early"))
	default:
		passed = j.last.DelayUS + rapid.Int64Range(0, 2*million).Draw(t, "attempt took")
	}
	j.now = min(max(j.now+passed, -strictjson.MaxInteger), strictjson.MaxInteger)
}

// Whatever happens, and whatever the clock does: no panic, no more attempts, no
// more sleep and no longer state than there may be, and no write that may have
// been applied is repeated, or told of as though it had not, unless its caller
// allows the former.
func TestAnySequenceOfEvents(t *testing.T) {
	docs := []*Document{builtin(t, "omnigraph"), builtin(t, "witan-core"), steady(t, "5s"), worst(t)}
	rapid.Check(t, func(t *rapid.T) {
		j := &journey{doc: docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")], call: drawCall(t)}
		safe := j.doc == docs[0] || j.doc == docs[2] // documents that know what is safe
		doubt := false                               // a write may have been applied
		stubborn := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "most of the time")]
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			if j.last.Wake != nil && rapid.IntRange(0, 2).Draw(t, "woken") == 0 {
				j.now += rapid.Int64Range(0, j.last.DelayUS).Draw(t, "after")
				u := drawChance(t)
				j.step(t, abi.Event{Type: abi.Woken, By: drawReadiness(t), Random: &u})
				continue
			}
			j.tick(t)
			if j.last.Wake != nil && rapid.Bool().Draw(t, "down") {
				u := drawChance(t)
				j.step(t, abi.Event{Type: rapid.SampledFrom([]abi.EventType{abi.Down, abi.NotReady}).Draw(t, "how"), Random: &u})
				continue
			}
			if rapid.IntRange(0, 40).Draw(t, "cancel") == 0 {
				j.step(t, abi.Event{Type: abi.Cancelled})
				if o := j.last.Outcome; o.Type != abi.OutcomeCancelled || safe && doubt != (o.Effects == abi.EffectsUnknown) {
					t.Fatalf("cancelled, in doubt %v: %s", doubt, j.last.Encode())
				}
				return
			}
			k := stubborn
			if rapid.IntRange(0, 3).Draw(t, "something else") == 0 {
				k = pool[rapid.IntRange(0, len(pool)-1).Draw(t, "result")]
			}
			e := abi.Event{Type: abi.Attempted, Result: &k.result}
			if j.last.Repair {
				e.Type = abi.Repaired
			} else {
				j.attempts++
				several := j.call.OneRequest != nil && !*j.call.OneRequest && k.result.Sent != abi.SentNo
				doubt = doubt || j.call.Write && (k.unknown || several)
			}
			j.step(t, e)
			if j.last.Type == abi.Stop {
				if o := j.last.Outcome; o.Attempts != j.attempts || o.Attempts > abi.MaxAttempts {
					t.Fatalf("after %d attempts: %s", j.attempts, j.last.Encode())
				}
				if safe && doubt && j.last.Outcome.Effects != abi.EffectsUnknown {
					t.Fatalf("a write that may have been applied: %s", j.last.Encode())
				}
				return
			}
			if safe && doubt && !j.call.Repeatable {
				t.Fatalf("a write that may have been applied is tried again after %q: %s", k.result.Stderr.Head, j.last.Encode())
			}
		}
	})
}
