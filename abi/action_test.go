package abi

import "testing"

func TestEncodeAction(t *testing.T) {
	left := int64(0)
	for want, action := range map[string]Action{
		`{"type":"retry","kind":"unavailable","budget":"unavailable","attempt":2,"delay_us":0}`: {
			Type: Retry, Kind: "unavailable", Budget: "unavailable", Attempt: 2},
		`{"type":"retry","delay_us":5,"remaining_us":0,"repair":true,"repair_force":true,"wake":{"by":"accepting"},"state":"s"}`: {
			Type: Retry, DelayUS: 5, RemainingUS: &left, Repair: true, RepairForce: true, Wake: &Wake{By: Accepting}, State: "s"},
		`{"type":"stop","outcome":{"type":"ok","effects":"none","attempts":1,"elapsed_us":0,"history":[]}}`: {
			Type: Stop, Outcome: &Outcome{Type: OutcomeOK, Effects: EffectsNone, Attempts: 1}},
		`{"type":"stop","why":{"rule":"failed","matched":[{"in":"exit code","text":"2"}]}}`: {
			Type: Stop, Why: &Why{Rule: "failed", Matched: []Matched{{In: "exit code", Text: "2"}}}},
	} {
		if got := string(action.Encode()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEncodeOutcome(t *testing.T) {
	after := int64(0)
	o := Outcome{
		Type: OutcomeExhausted, Kind: "k", Effects: EffectsNone, Reason: ReasonRetryAfter, Budget: "b", BudgetAttempts: 1, BudgetSpentUS: 2,
		Attempts: 3, ElapsedUS: 4, RetryAfterUS: &after, Message: "m", Remedy: "r", LastError: "l", History: []HistoryEntry{{1, 0, "k"}},
	}
	const want = `{"type":"exhausted","kind":"k","effects":"none","reason":"retry_after","budget":"b","budget_attempts":1,"budget_spent_us":2,` +
		`"attempts":3,"elapsed_us":4,"retry_after_us":0,"message":"m","remedy":"r","last_error":"l","history":[{"attempt":1,"at_us":0,"kind":"k"}]}`
	if got := string(o.Encode()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
