package policy

import (
	"errors"
	"testing"
	"time"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
)

func TestACallBeginsWithAnAttempt(t *testing.T) {
	doc, call := builtin(t, "omnigraph"), read0(1)
	for _, e := range []abi.Event{{Type: abi.Woken, By: abi.Ready}, {Type: abi.Repaired, Result: &done}} {
		_, _, err := Decide(doc, &call, "", &e, false)
		var fault *abi.Error
		if !errors.As(err, &fault) || fault.Code != abi.CodeBadRequest || fault.Field != "event.type" {
			t.Errorf("%s: %v", e.Type, err)
		}
	}
}

func TestEventsOutOfOrder(t *testing.T) {
	doc, call, local := builtin(t, "omnigraph"), read0(1), localWrite()
	_, trying := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &refused})
	_, mending := ask(t, doc, &local, "", &abi.Event{Type: abi.Attempted, Result: &drifted})
	for name, c := range map[string]struct {
		call  *abi.Call
		state string
		event abi.Event
	}{
		"repaired without a repair":       {&call, trying, abi.Event{Type: abi.Repaired, Result: &done}},
		"attempted where a repair is due": {&local, mending, abi.Event{Type: abi.Attempted, Result: &done}},
	} {
		_, _, err := Decide(doc, c.call, c.state, &c.event, false)
		var fault *abi.Error
		if !errors.As(err, &fault) || fault.Code != abi.CodeBadRequest || fault.Field != "event.type" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A call that does not say when it began began with its first attempt.
func TestStarted(t *testing.T) {
	doc, begin := builtin(t, "omnigraph"), int64(2*million)
	ok := done
	ok.StartedUS = &begin
	for name, c := range map[string]struct {
		call   *int64
		result *abi.Result
		want   int64
	}{
		"as the call says":          {&[]int64{million}[0], &ok, 9 * million},
		"as the first attempt says": {nil, &ok, 8 * million},
		"now":                       {nil, &done, 0},
		"in what is yet to come":    {&[]int64{11 * million}[0], &ok, 0},
	} {
		call := read0(1)
		call.StartedUS = c.call
		action, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, NowUS: 10 * million, Result: c.result})
		if got := action.Outcome.ElapsedUS; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestSuccessAtOnce(t *testing.T) {
	for _, name := range Names() {
		for _, result := range []abi.Result{done, *answered(200, "")} {
			p := play(t, builtin(t, name), write0(1), always(step{time.Second, result}))
			want := &abi.Outcome{
				Type: abi.OutcomeOK, Effects: abi.EffectsNone, Attempts: 1, ElapsedUS: million, Message: "succeeded after 1 attempt over 1 s",
			}
			if diff := cmp.Diff(want, p.outcome); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// Cancelling.

func TestCancelledInAWait(t *testing.T) {
	doc := builtin(t, "omnigraph")
	for _, call := range []abi.Call{read0(1), write0(1)} {
		_, state := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &refused})
		action, _ := ask(t, doc, &call, state, &abi.Event{Type: abi.Cancelled, NowUS: 100_000})
		o := action.Outcome
		if o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsNone || o.Kind != "unavailable" || o.Attempts != 1 || o.ElapsedUS != 100_000 || len(o.History) != 1 {
			t.Errorf("got %s", action.Encode())
		}
	}
}

func TestCancelledBeforeTheFirstAttempt(t *testing.T) {
	call := write0(1)
	action, _ := ask(t, builtin(t, "omnigraph"), &call, "", &abi.Event{Type: abi.Cancelled, NowUS: 5})
	if o := action.Outcome; o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsNone || o.Attempts != 0 || o.Kind != "" || len(o.History) != 0 {
		t.Errorf("got %s", action.Encode())
	}
}

// If an attempt was running, what it printed says whether a write may have been
// applied; if it had succeeded already, it has.
func TestCancelledInAnAttempt(t *testing.T) {
	doc := builtin(t, "omnigraph")
	interrupted := abi.Result{Signal: "SIGINT"}
	for name, c := range map[string]struct {
		call    abi.Call
		result  abi.Result
		outcome abi.OutcomeType
		effects abi.Effects
		kind    string
	}{
		"a write that was killed":        {write0(1), interrupted, abi.OutcomeCancelled, abi.EffectsUnknown, "cancelled"},
		"a write that never left":        {write0(1), refused, abi.OutcomeCancelled, abi.EffectsNone, "unavailable"},
		"a write that was refused":       {write0(1), capped, abi.OutcomeCancelled, abi.EffectsNone, "admission_cap"},
		"a write that broke":             {write0(1), broken, abi.OutcomeCancelled, abi.EffectsUnknown, "interrupted"},
		"a write that waits in recovery": {write0(1), recovering, abi.OutcomeCancelled, abi.EffectsUnknown, "recovery_required"},
		"a write that crashed":           {write0(1), killed, abi.OutcomeCancelled, abi.EffectsUnknown, "crashed"},
		"a write that was done":          {write0(1), done, abi.OutcomeOK, abi.EffectsNone, "unavailable"},
		"a read that was killed":         {read0(1), interrupted, abi.OutcomeCancelled, abi.EffectsNone, "cancelled"},
		"a read that was done":           {read0(1), done, abi.OutcomeOK, abi.EffectsNone, "unavailable"},
	} {
		_, state := ask(t, doc, &c.call, "", &abi.Event{Type: abi.Attempted, Result: &refused})
		action, _ := ask(t, doc, &c.call, state, &abi.Event{Type: abi.Cancelled, NowUS: million, Result: &c.result})
		if o := action.Outcome; o.Type != c.outcome || o.Effects != c.effects || o.Kind != c.kind || o.Attempts != 2 {
			t.Errorf("%s: %s", name, action.Encode())
		}
	}
}

// A repair is no attempt: that it succeeded does not mean that the write has.
func TestCancelledInARepair(t *testing.T) {
	doc, call := builtin(t, "omnigraph"), localWrite()
	_, state := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &drifted})
	for _, result := range []*abi.Result{&done, &panicked, {Signal: "SIGINT"}, nil} {
		action, _ := ask(t, doc, &call, state, &abi.Event{Type: abi.Cancelled, NowUS: 5, Result: result})
		if o := action.Outcome; o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsNone || o.Kind != "needs_repair" || o.Attempts != 1 {
			t.Errorf("%v: %s", result, action.Encode())
		}
	}
}

// The user's own signals are a cancel, whoever passes them on.
func TestTheUsersSignals(t *testing.T) {
	for _, signal := range []string{"SIGINT", "SIGQUIT"} {
		p := play(t, builtin(t, "omnigraph"), write0(1), always(step{0, abi.Result{Signal: signal}}))
		if o := p.outcome; o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsUnknown || o.Attempts != 1 {
			t.Errorf("%s: %s", signal, o.Encode())
		}
	}
}

// Explaining.

func TestExplain(t *testing.T) {
	doc := builtin(t, "omnigraph")
	notSent := *exited(1, "x\ncommand_outcome: {\"execution\":\"not_started\",\"effects\":\"none\",\"action\":\"refresh\"}\n", "")
	for name, c := range map[string]struct {
		call   abi.Call
		result abi.Result
		want   *abi.Why
	}{
		"a chain of causes": {read0(1), refused, &abi.Why{Rule: "unavailable", Matched: []abi.Matched{
			{In: "sent", Text: "unknown"}, {In: "cause 0", Text: "error sending request for url ("},
			{In: "cause 1", Text: "client error (Connect)"}, {In: "cause 2", Text: "tcp connect error"},
		}}},
		"a message": {write0(1), lostRace, &abi.Why{Rule: "conflict", Matched: []abi.Matched{
			{In: "message", Text: "stale view"}, {In: "message", Text: "refresh and retry"},
		}}},
		"an exit code":   {write0(1), *exited(75, "", ""), &abi.Why{Rule: "admission_cap", Matched: []abi.Matched{{In: "exit code", Text: "75"}}}},
		"a status":       {read0(1), *answered(503, "x"), &abi.Why{Rule: "interrupted", Matched: []abi.Matched{{In: "HTTP status", Text: "503"}}}},
		"a signal":       {read0(1), killed, &abi.Why{Rule: "crashed", Matched: []abi.Matched{{In: "signal", Text: "SIGKILL"}}}},
		"a time limit":   {read0(1), timedOut, &abi.Why{Rule: "timed_out", Matched: []abi.Matched{{In: "attempt", Text: "timed out"}}}},
		"a parsed field": {write0(1), notSent, &abi.Why{Rule: "failed", Matched: []abi.Matched{{In: "effects", Text: "none"}}}},
		"nothing":        {read0(1), strange, &abi.Why{Rule: "failed"}},
		"success":        {read0(1), done, nil},
	} {
		event := &abi.Event{Type: abi.Attempted, Result: &c.result}
		action, _, err := Decide(doc, &c.call, "", event, true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, action.Why); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if quiet, _ := ask(t, doc, &c.call, "", event); quiet.Why != nil {
			t.Errorf("%s is explained without being asked", name)
		}
	}
}
