package policy

import (
	"slices"
	"testing"
	"time"

	"outlast/abi"
)

// Results as a host sees them that makes its requests itself.
var (
	unconnected = abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo, Message: abi.Text{Head: "connection refused"}}
	stale       = abi.Result{Failure: abi.FailureStale, Sent: abi.SentYes, Message: abi.Text{Head: "EOF"}}
	broke       = abi.Result{Failure: abi.FailureBroke, Sent: abi.SentYes, Message: abi.Text{Head: "connection reset by peer"}}
)

func status(n int64) abi.Result {
	return abi.Result{HTTPStatus: &n, Sent: abi.SentYes, OnlyRequest: true}
}

// requests are all the results that a host can give of a request.
func requests() (list []abi.Result) {
	statuses := []int64{0, 301, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 418, 422, 425, 428, 429, 431, 500, 501, 502, 503, 504, 599}
	claims := []string{"", `{"error":"x","effects":"none"}`, `{"error":"x","request_dispatched":false}`, `{"error":"x","http_status":404}`}
	for _, status := range statuses {
		for _, failure := range abi.AllFailures {
			for _, sent := range abi.AllSent {
				for _, claim := range claims {
					r := abi.Result{HTTPStatus: &status, Failure: abi.Failure(failure), Sent: abi.Sent(sent), Message: abi.Text{Head: claim}}
					for _, hint := range []*int64{nil, new(int64(1))} {
						for _, only := range []bool{false, true} {
							for _, timedOut := range []bool{false, true} {
								r.RetryAfterUS, r.OnlyRequest, r.TimedOut = hint, only, timedOut
								list = append(list, r)
							}
						}
					}
				}
			}
		}
	}
	return list
}

// The promise: a write is repeated, or said to have had no effects, only where the
// host saw that nothing was sent, or where the attempt's one request was refused
// in a way that says so. No text counts.
func TestNetworkBelievesTheHostOnly(t *testing.T) {
	doc := builtin(t, "network")
	always := []int64{400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 428, 431}
	declared := []int64{409, 410, 412, 422, 429, 503}
	for _, r := range requests() {
		for _, declares := range []bool{false, true} {
			call := write0(1)
			call.RefusesBeforeActing = declares
			answered := r.Failure == "" && !r.TimedOut && r.OnlyRequest
			unsent := r.Sent == abi.SentNo
			refused := answered && slices.Contains(always, *r.HTTPStatus)
			excused := answered && declares && slices.Contains(declared, *r.HTTPStatus)
			action, _, err := Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &r}, false)
			switch {
			case err != nil:
				t.Fatal(err)
			case action.Type == abi.Retry && !unsent && !excused,
				action.Type == abi.Stop && action.Outcome.Effects == abi.EffectsNone && !unsent && !refused && !excused,
				action.Type == abi.Stop && action.Outcome.Effects != abi.EffectsNone && (refused || excused || unsent && r.Failure == ""):
				t.Fatalf("%s, declared %t: %s", (&abi.Event{Type: abi.Attempted, Result: &r}).Encode(), declares, action.Encode())
			}
		}
	}
}

// A read never needs evidence, and is never in doubt.
func TestNetworkAndReads(t *testing.T) {
	doc := builtin(t, "network")
	waits := map[abi.Failure]string{
		abi.FailureUnresolved: "unavailable", abi.FailureUnconnected: "unavailable", abi.FailureStale: "stale_connection",
		abi.FailureBroke: "unavailable", abi.FailureCut: "unavailable",
	}
	statuses := map[int64]string{429: "busy", 502: "unavailable", 503: "unavailable", 504: "unavailable"}
	for _, r := range requests() {
		want := waits[r.Failure]
		switch {
		case r.TimedOut:
			want = "unavailable"
		case r.Failure == "":
			want = statuses[*r.HTTPStatus]
		}
		call := read0(1)
		action, _, err := Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &r}, false)
		if err != nil || action.Budget != want || (action.Type == abi.Retry) != (want != "") || action.Outcome != nil && action.Outcome.Effects != abi.EffectsNone {
			t.Fatalf("%s: %s, %v; want %q", (&abi.Event{Type: abi.Attempted, Result: &r}).Encode(), action.Encode(), err, want)
		}
	}
}

// A pool of a hundred connections that died with the server is used up in
// seconds, and none of them is a second outage.
func TestStaleConnectionsAreUsedUp(t *testing.T) {
	doc := builtin(t, "network")
	used := func(a *abi.Action, _ time.Duration) step {
		switch {
		case a.Attempt <= 100:
			return step{time.Millisecond, stale}
		case a.Attempt <= 102:
			return step{time.Millisecond, broke}
		}
		return step{0, done}
	}
	p := play(t, doc, read0(1), used)
	checkOutcome(t, p, abi.OutcomeOK, "")
	if p.starts[100] > 3*time.Second {
		t.Errorf("100 dead connections took %v", p.starts[100])
	}
	if p := play(t, doc, read0(1), always(step{0, stale})); p.outcome.Reason != abi.ReasonAttempts || p.outcome.Attempts != 200 {
		t.Errorf("for ever stale: %s", p.outcome.Encode())
	}
}

// A GOAWAY that left the request out is no broken connection: it may come often.
func TestUnprocessedRequestsAreNoBrokenConnections(t *testing.T) {
	goaway := broke
	goaway.Sent = abi.SentNo
	for _, call := range []abi.Call{read0(1), write0(1)} {
		p := play(t, builtin(t, "network"), call, failsUntil(goaway, 20*time.Second, 0))
		checkOutcome(t, p, abi.OutcomeOK, "")
	}
	p := play(t, builtin(t, "network"), read0(1), always(step{0, broke}))
	checkOutcome(t, p, abi.OutcomeExhausted, abi.ReasonBroken)
	if p.outcome.Attempts != 3 {
		t.Errorf("a read that breaks every connection: %s", p.outcome.Encode())
	}
}

// Retry-After moves the next attempt back, never forward, and ends the call where
// it is too long.
func TestNetworkHearsRetryAfter(t *testing.T) {
	for _, n := range []int64{429, 503} {
		asked := status(n)
		for after, want := range map[int64]int64{0: 250_000, 60 * million: 60 * million} {
			asked.RetryAfterUS = &after
			p := play(t, builtin(t, "network"), read0(1), inOrder(step{0, asked}, step{0, done}))
			if d := p.retries[0].DelayUS; d < want || d > want+want/10+600_000 {
				t.Errorf("%d, asked for %d: waits %d", n, after, d)
			}
		}
		asked.RetryAfterUS = new(120*million + int64(1))
		checkOutcome(t, play(t, builtin(t, "network"), read0(1), always(step{0, asked})), abi.OutcomeExhausted, abi.ReasonRetryAfter)
	}
}

// A server that says 503 for a minute is ridden out, whatever Retry-After it gives.
func TestNetworkRidesOut503(t *testing.T) {
	for _, after := range []*int64{nil, new(int64(0)), new(int64(million)), new(int64(5 * million)), new(int64(30 * million))} {
		away := status(503)
		away.RetryAfterUS = after
		declared := write0(1)
		declared.RefusesBeforeActing = true
		for _, call := range []abi.Call{read0(1), declared} {
			checkOutcome(t, play(t, builtin(t, "network"), call, failsUntil(away, 61*time.Second, 0)), abi.OutcomeOK, "")
		}
	}
}

// What a 409 and a 412 come to where the caller has said what they mean.
func TestNetworkConflicts(t *testing.T) {
	for _, c := range []struct {
		status           int64
		declares, claims bool
		want             abi.OutcomeType
	}{
		{409, true, true, abi.OutcomeConflict}, {409, true, false, abi.OutcomeFailed}, {409, false, true, abi.OutcomeIndeterminate},
		{412, true, true, abi.OutcomePreconditionFailed}, {412, true, false, abi.OutcomePreconditionFailed}, {412, false, false, abi.OutcomeIndeterminate},
	} {
		call := write0(1)
		call.RefusesBeforeActing, call.SurfaceConflict = c.declares, c.claims
		checkOutcome(t, play(t, builtin(t, "network"), call, always(step{0, status(c.status)})), c.want, "")
	}
}

// What made a condition hold is told.
func TestWhyOfARequest(t *testing.T) {
	asked := status(503)
	asked.RetryAfterUS = new(int64(million))
	for want, r := range map[string]abi.Result{
		"sent=no failure=unconnected ":                                     unconnected,
		"HTTP status=503 attempt=made one request Retry-After=1000000 us ": asked,
	} {
		call := write0(1)
		action, _, err := Decide(builtin(t, "network"), &call, "", &abi.Event{Type: abi.Attempted, Result: &r}, true)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range action.Why.Matched {
			got += m.In + "=" + m.Text + " "
		}
		if got != want {
			t.Errorf("%s: why %s", action.Kind, got)
		}
	}
}
