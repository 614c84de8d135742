package policy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"outlast/abi"
)

// The helpers in this file play a call against the policy on a virtual clock.

// tb is what they need of a *testing.T or a *rapid.T.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// step is what one attempt, or one repair, does.
type step struct {
	took   time.Duration
	result abi.Result
}

// script says what the attempt, or the repair, that an action asks for does, if
// it starts so long after the call did.
type script func(a *abi.Action, at time.Duration) step

// always is a script in which every attempt is the same.
func always(s step) script {
	return func(*abi.Action, time.Duration) step { return s }
}

// inOrder is a script of one step after another; the last one stays.
func inOrder(steps ...step) script {
	return func(*abi.Action, time.Duration) step {
		s := steps[0]
		if len(steps) > 1 {
			steps = steps[1:]
		}
		return s
	}
}

// downUntil is a script in which a server is away until back: each attempt that
// starts before is a connect failure that takes so long.
func downUntil(back, took time.Duration) script { return failsUntil(refused, back, took) }

// failsUntil is the same with another failure.
func failsUntil(failure abi.Result, back, took time.Duration) script {
	return func(_ *abi.Action, at time.Duration) step {
		if at < back {
			return step{took, failure}
		}
		return step{0, done}
	}
}

// readers are the built-in policies that read what omnigraph prints.
var readers = []string{"omnigraph", "witan-core"}

// played is the story of a call.
type played struct {
	starts  []time.Duration // of its attempts, since the call started
	repairs []time.Duration
	retries []*abi.Action
	outcome *abi.Outcome
	end     time.Duration
}

// started is where the clock of a scripted call starts: not at 0, so that what
// mixes up times and durations is found.
const started0 = 7_000_000

// play runs a call by a script in virtual time.
func play(t tb, doc *Document, call abi.Call, run script) played {
	t.Helper()
	var p played
	now, state := int64(started0), ""
	if call.StartedUS == nil {
		call.StartedUS = &[]int64{now}[0]
	}
	at := func() time.Duration { return time.Duration(now-*call.StartedUS) * time.Microsecond }
	action := &abi.Action{Type: abi.Retry, Attempt: 1}
	for {
		event := &abi.Event{Type: abi.Attempted}
		if action.Repair {
			event.Type = abi.Repaired
			p.repairs = append(p.repairs, at())
		} else {
			p.starts = append(p.starts, at())
		}
		s := run(action, at())
		now += s.took.Microseconds()
		event.NowUS, event.Result = now, &s.result
		var next abi.Action
		next, state = ask(t, doc, &call, state, event)
		if next.Type == abi.Stop {
			p.outcome, p.end = next.Outcome, at()
			return p
		}
		action = &next
		p.retries = append(p.retries, action)
		now += action.DelayUS
		if len(p.starts) > abi.MaxAttempts {
			t.Fatalf("more than %d attempts", abi.MaxAttempts)
		}
	}
}

// ask is Decide, with checks of what must hold of every answer.
func ask(t tb, doc *Document, call *abi.Call, state string, e *abi.Event) (abi.Action, string) {
	t.Helper()
	action, next, err := Decide(doc, call, state, e, false)
	if err != nil {
		t.Fatalf("%s: %v", e.Encode(), err)
	}
	checkAnswer(t, doc, &action, next)
	if again, nextAgain, _ := Decide(doc, call, state, e, false); !reflect.DeepEqual(again, action) || nextAgain != next {
		t.Fatalf("the same event gets another answer: %s, then %s", action.Encode(), again.Encode())
	}
	request := abi.DecideRequest{Policy: abi.PolicyRef{Name: "x"}, Call: *call, State: state, Event: *e}
	r, err := abi.DecodeDecide(string(request.Encode()))
	if err != nil {
		t.Fatalf("%s: %v", request.Encode(), err)
	}
	coded, nextCoded, err := Decide(doc, &r.Call, r.State, &r.Event, false)
	if err != nil || !reflect.DeepEqual(coded, action) || nextCoded != next {
		t.Fatalf("as JSON the event gets another answer: %s, then %s", action.Encode(), coded.Encode())
	}
	return action, next
}

func checkAnswer(t tb, doc *Document, a *abi.Action, state string) {
	t.Helper()
	switch {
	case a.Type == abi.Stop && (a.Outcome == nil || state != ""):
		t.Fatalf("a stop without an outcome, or with a state: %s, %q", a.Encode(), state)
	case a.Type == abi.Stop && len(a.Outcome.History) > 2*abi.HistoryEnds:
		t.Fatalf("a history of %d", len(a.Outcome.History))
	case a.Type == abi.Stop && a.Outcome.Message == "":
		t.Fatalf("an outcome without a message")
	case a.Type == abi.Stop:
		return
	case a.Type != abi.Retry || a.Outcome != nil || state == "":
		t.Fatalf("not a retry: %s", a.Encode())
	case a.DelayUS < 0 || a.RemainingUS != nil && a.DelayUS > *a.RemainingUS:
		t.Fatalf("a delay out of bounds: %s", a.Encode())
	case len(state) > abi.MaxStateBytes || strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }):
		t.Fatalf("a state of %d bytes: %q", len(state), state)
	}
	s, err := decodeState(doc, state)
	if err != nil || s.encode(doc) != state {
		t.Fatalf("the state %q is read as another: %v", state, err)
	}
}

// variant is a built-in document with changes; what is replaced must be there.
func variant(t testing.TB, name string, pairs ...string) *Document {
	t.Helper()
	text := Source(name)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s is not in the document", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return parsed(t, text)
}

// steady is the default policy without jitter, and with another window.
func steady(t testing.TB, maxWait string, more ...string) *Document {
	return variant(t, "omnigraph", append([]string{`"jitter": 0.1`, `"jitter": 0`, `"max_wait": "150s"`, `"max_wait": "` + maxWait + `"`}, more...)...)
}

func builtin(t testing.TB, name string) *Document {
	t.Helper()
	doc, err := BuiltIn(name)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Calls.

func read0(seed int64) abi.Call {
	return abi.Call{Label: "query", Remote: true, ConnectRetry: true, Seed: &seed}
}

func write0(seed int64) abi.Call {
	return abi.Call{Label: "mutate", Remote: true, Write: true, ConnectRetry: true, Seed: &seed}
}

func with(call abi.Call, budget time.Duration) abi.Call {
	call.BudgetUS = budget.Microseconds()
	return call
}

// Results, as omnigraph gives them.

const url = "error sending request for url (http://127.0.0.1:8080/graphs/people/query)"

var (
	done       = *exited(0, "", "rows")
	refused    = *exited(1, printed(url, "client error (Connect)", "tcp connect error", "Connection refused (os error 111)"), "")
	broken     = *exited(1, printed(url, "client error (SendRequest)", "connection closed before message completed"), "")
	proxied    = *exited(1, printed("server returned 503 Service Unavailable: upstream connect error"), "")
	capped     = *exited(1, printed("actor in-flight count cap 1 exceeded"), "")
	lostRace   = *exited(1, printed("stale view of dataset for node type 'Person': expected published dataset version 22 but current is 23 — refresh and retry"), "")
	recovering = *exited(1, printed("recovery required for operation 01K: pending Mutation recovery operation blocks writes on branch 'main'"), "")
	drifted    = *exited(1, printed("dataset for node type 'Person' is at Lance HEAD version 3, ahead of published dataset version 2; run `omnigraph repair` before writing"), "")
	usage      = *exited(2, "error: unexpected argument '--x' found\n\nUsage: omnigraph query\n", "")
	strange    = *exited(1, printed("something that nobody has seen"), "")
	panicked   = *exited(101, "The application panicked (crashed).\nMessage:  attempt to subtract with overflow\n", "")
	killed     = abi.Result{Signal: "SIGKILL"}
	timedOut   = abi.Result{Signal: "SIGKILL", TimedOut: true}
)

// after is capped with a Retry-After, over HTTP.
func after(micros int64) abi.Result {
	status := int64(429)
	return abi.Result{HTTPStatus: &status, Message: abi.Text{Head: "actor in-flight count cap exceeded"}, RetryAfterUS: &micros}
}

// at is instants in seconds.
func at(seconds ...float64) []time.Duration {
	var list []time.Duration
	for _, s := range seconds {
		list = append(list, time.Duration(s*1e6+0.5)*time.Microsecond)
	}
	return list
}

const ms = time.Millisecond
