package policy

import (
	"strings"
	"testing"

	"outlast/abi"

	"pgregory.net/rapid"
)

func numbersOf(state string) []string { return strings.Split(strings.Split(state, ":")[2], ".") }

// A build that does not know of doubt must not go on with such a state, as
// though nothing could have been applied.
func TestAStateInDoubtHasItsOwnFormat(t *testing.T) {
	call := write0(1)
	call.Repeatable = true
	w := wait0(t, steady(t, "150s"), call)
	if !strings.HasPrefix(w.state, "o1:") {
		t.Errorf("nothing is in doubt: %q", w.state)
	}
	w.attempt(w.last.DelayUS, broken)
	if !strings.HasPrefix(w.state, "o1d:") {
		t.Errorf("in doubt: %q", w.state)
	}
	for _, other := range []string{"o1:", "o1e:", "o1d", ":", "o2:"} {
		wantBadState(t, w.doc, w.call, other+strings.TrimPrefix(w.state, "o1d:"))
	}
}

// In whatever order attempts fail: an attempt that may have been applied and was
// followed by another leaves each end but ok in doubt, with reason and budget as
// the same call of a read has them.
func TestRepeatableNeverTurnsUnknownIntoNone(t *testing.T) {
	docs := []*Document{builtin(t, "omnigraph"), steady(t, "5s")}
	rapid.Check(t, func(t *rapid.T) {
		call := drawCall(t)
		call.Write, call.Repeatable = true, true
		read := call
		read.Write = false
		w := &waiting{t: t, doc: docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")], call: call}
		twin := &waiting{t: t, doc: w.doc, call: read}
		doubt := false
		for w.last.Type != abi.Stop {
			k := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "result")]
			doubt = doubt || k.unknown && !w.last.Repair || several(&call) && k.result.Sent != abi.SentNo && !w.last.Repair
			e := abi.Event{Type: abi.Attempted, Result: &k.result}
			if w.last.Repair {
				e.Type = abi.Repaired
			}
			later := w.last.DelayUS
			w.event(e, later)
			twin.event(e, later)
		}
		o, of := w.last.Outcome, twin.last.Outcome
		unknown := o.Effects == abi.EffectsUnknown
		if doubt && !unknown || unknown && o.Type != abi.OutcomeIndeterminate && o.Type != abi.OutcomeCancelled {
			t.Fatalf("in doubt %v: %s", doubt, w.last.Encode())
		}
		if o.Reason != of.Reason || o.Budget != of.Budget || o.Kind != of.Kind || o.Attempts != of.Attempts || !unknown && o.Type != of.Type {
			t.Fatalf("%s\nas a read %s", w.last.Encode(), twin.last.Encode())
		}
	})
}

// What a program says of its request is of one: a script's last command may not
// have sent its own, and the ones before have.
func TestWhatAProgramSaysOfItsRequestIsOfOne(t *testing.T) {
	call := write0(1)
	call.OneRequest = new(false)
	for _, r := range []*abi.Result{
		exited(1, "", `{"error":"no such profile","command_outcome":`+strings.TrimPrefix(noEffects, outcomeLine)+`}`),
		exited(1, "it raced\n"+noEffects+"\n", ""), exited(75, "x\nHTTP 429\n"+tryAgain+"\n", ""),
		exited(4, "x\nHTTP 412\n"+noEffects+"\n", ""), exited(2, "error: unexpected argument", ""),
	} {
		a, _ := ask(t, builtin(t, "omnigraph"), &call, "", &abi.Event{Type: abi.Attempted, Result: r})
		if a.Outcome == nil || a.Outcome.Type != abi.OutcomeIndeterminate || !strings.Contains(a.Outcome.Message, "may make several requests") {
			t.Errorf("%s%s: %s", r.Stdout.Head, r.Stderr.Head, a.Encode())
		}
	}
}

// Once it is ok, nothing of it is in doubt.
func TestASuccessEndsTheDoubt(t *testing.T) {
	call := write0(1)
	call.Repeatable, call.OneRequest = true, new(false)
	w := wait0(t, steady(t, "150s"), call)
	w.attempt(w.last.DelayUS, broken)
	if o := w.attempt(w.last.DelayUS, done).Outcome; o == nil || o.Type != abi.OutcomeOK || o.Effects != abi.EffectsNone {
		t.Errorf("%s", w.last.Encode())
	}
}

func several(call *abi.Call) bool { return call.OneRequest != nil && !*call.OneRequest }

// A write that may make several requests is followed by another attempt only
// where the host saw that nothing was sent, and is told of as in doubt where it
// did not; everything else is as for a call without `repeatable`.
func TestSeveralRequestsAreNeverRepeated(t *testing.T) {
	docs := []*Document{builtin(t, "omnigraph"), builtin(t, "witan-core"), worst(t)}
	rapid.Check(t, func(t *rapid.T) {
		call := drawCall(t)
		call.Write, call.Repeatable, call.OneRequest = true, false, new(false)
		plain := call
		plain.OneRequest = nil
		doc := docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")]
		r := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "result")].result
		r.Sent = rapid.SampledFrom([]abi.Sent{abi.SentNo, abi.SentUnknown, abi.SentYes}).Draw(t, "sent")
		e := abi.Event{Type: rapid.SampledFrom([]abi.EventType{abi.Attempted, abi.Cancelled}).Draw(t, "event"), Result: &r}
		got, _ := ask(t, doc, &call, "", &e)
		want, _ := ask(t, doc, &plain, "", &e)
		switch {
		case r.Sent == abi.SentNo:
			if string(got.Encode()) != string(want.Encode()) && newView(&r).sent == abi.SentNo {
				t.Fatalf("not sent: %s, without the word %s", got.Encode(), want.Encode())
			}
		case got.Type != abi.Stop || got.Outcome.Effects != abi.EffectsUnknown || got.Kind != want.Kind:
			t.Fatalf("%s", got.Encode())
		}
	})
}

// What the last command of a script says of its own request says nothing of the
// requests before it, in whatever form it says so.
func TestAScriptsLastCommandSpeaksForItself(t *testing.T) {
	const unsent = `{"error":"server discovery timed out; could not establish omnigraph-http-api: 0.13; this data request was not sent","code":"api_contract_mismatch",` +
		`"command_outcome":{"execution":"not_started","effects":"none","action":"refresh"},"request_dispatched":false}`
	for _, result := range []*abi.Result{exited(1, "", unsent), exited(1, "banner\n", unsent)} {
		call := write0(1)
		if got, action := verdictOf(t, call, result); got != "retry" {
			t.Errorf("one command: %s", action.Encode())
		}
		several := false
		call.OneRequest = &several
		if got, action := verdictOf(t, call, result); got != "indeterminate" {
			t.Errorf("a script: %s", action.Encode())
		}
		sent := *result
		sent.Sent = abi.SentNo
		if got, action := verdictOf(t, call, &sent); got != "retry" {
			t.Errorf("a script of which the host saw that nothing was sent: %s", action.Encode())
		}
	}
}
