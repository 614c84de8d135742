package main

import (
	"strings"
	"testing"

	"outlast/abi"
	"outlast/plugin/policy"

	"github.com/google/go-cmp/cmp"
)

// fakeHost is a host on a virtual clock. Its functions answer as a host's, but
// for those that a test replaces.
type fakeHost struct {
	t     *testing.T
	clock int64
	asked []string // what was called, in order

	onNow     func() string
	onSleep   func(a abi.Action) string
	onAttempt func(a abi.Action) string
	result    func(a abi.Action) abi.Result
}

func (h *fakeHost) action(text []byte) abi.Action {
	a, err := abi.DecodeAction(string(text))
	if err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
	return a
}

func (h *fakeHost) now() string {
	h.asked = append(h.asked, "now")
	if h.onNow != nil {
		return h.onNow()
	}
	return string(abi.EncodeNow(h.clock))
}

func (h *fakeHost) sleep(text []byte) string {
	a := h.action(text)
	h.asked = append(h.asked, "sleep "+us(a.DelayUS))
	if h.onSleep != nil {
		return h.onSleep(a)
	}
	h.clock += a.DelayUS
	return string((&abi.Slept{Wait: abi.WaitFull, NowUS: h.clock}).Encode())
}

func (h *fakeHost) attempt(text []byte) string {
	a := h.action(text)
	what := "attempt " + us(a.Attempt)
	if a.Repair {
		what = "repair"
	}
	h.asked = append(h.asked, what)
	if h.onAttempt != nil {
		return h.onAttempt(a)
	}
	e := abi.Event{Type: abi.Attempted, NowUS: h.clock}
	if a.Repair {
		e.Type = abi.Repaired
	}
	r := h.result(a)
	e.Result = &r
	return string(e.Encode())
}

func us(n int64) string { return string(abi.EncodeNow(n)[len(`{"now_us":`) : len(abi.EncodeNow(n))-1]) }

func exits(code int64, stderr string) abi.Result {
	return abi.Result{ExitCode: &code, Stderr: abi.Text{Head: stderr}}
}

const away = "Error: \n   0: error sending request for url (http://h)\n   1: client error (Connect)\n   2: tcp connect error\n\nLocation: x\n"

// failing gives away until attempt n, which succeeds.
func failing(n int64) func(abi.Action) abi.Result {
	return func(a abi.Action) abi.Result {
		if a.Attempt >= n {
			return exits(0, "")
		}
		return exits(1, away)
	}
}

func runRequest(change func(*abi.RunRequest)) string {
	seed := int64(1)
	r := abi.RunRequest{Policy: abi.PolicyRef{Name: "omnigraph"}, Call: abi.Call{Remote: true, ConnectRetry: true, Seed: &seed}}
	if change != nil {
		change(&r)
	}
	return string(r.Encode())
}

// outcome runs to an outcome.
func outcome(t *testing.T, input string, h host) *abi.Outcome {
	t.Helper()
	text := enveloped(func(input string) ([]byte, error) { return run(input, h) }, input)
	answer, err := abi.DecodeRunAnswer(string(text))
	if err != nil || answer.Outcome == nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer.Outcome
}

func runEnvelope(t *testing.T, input string, h host) envelope {
	return through(t, func(input string) ([]byte, error) { return run(input, h) }, input)
}

func TestRunSucceedsAtOnce(t *testing.T) {
	h := &fakeHost{t: t, clock: 50, result: failing(1)}
	o := outcome(t, runRequest(nil), h)
	if o.Type != abi.OutcomeOK || o.Attempts != 1 || !cmp.Equal(h.asked, []string{"now", "attempt 1"}) {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

// It is decide in a loop: the same delays, and the same outcome.
func TestRunIsDecideInALoop(t *testing.T) {
	h := &fakeHost{t: t, result: failing(1000)}
	got := outcome(t, runRequest(nil), h)

	doc, _ := policy.BuiltIn("omnigraph")
	seed, begin, now, state := int64(1), int64(0), int64(0), ""
	call := abi.Call{Remote: true, ConnectRetry: true, Seed: &seed, StartedUS: &begin}
	asked := []string{"now", "attempt 1"}
	result := exits(1, away)
	for {
		a, next, err := policy.Decide(doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &result}, false)
		if err != nil {
			t.Fatal(err)
		}
		if a.Type == abi.Stop {
			if diff := cmp.Diff(a.Outcome, got); diff != "" {
				t.Errorf("outcome (-decide +run):\n%s", diff)
			}
			break
		}
		asked = append(asked, "sleep "+us(a.DelayUS), "attempt "+us(a.Attempt))
		now, state = now+a.DelayUS, next
	}
	if diff := cmp.Diff(asked, h.asked); diff != "" {
		t.Errorf("calls (-decide +run):\n%s", diff)
	}
	if got.Type != abi.OutcomeExhausted || len(h.asked) < 30 {
		t.Errorf("%d calls, %+v", len(h.asked), got)
	}
}

// An attempt that was made before the plugin was loaded comes with the request,
// and its time counts.
func TestRunWithAFirstEvent(t *testing.T) {
	h := &fakeHost{t: t, clock: 7_000_000, result: failing(2)}
	input := runRequest(func(r *abi.RunRequest) {
		result, begin := exits(1, away), int64(1_000_000)
		result.StartedUS = &begin
		r.First = &abi.Event{Type: abi.Attempted, NowUS: 7_000_000, Result: &result}
	})
	o := outcome(t, input, h)
	if len(h.asked) != 2 || !strings.HasPrefix(h.asked[0], "sleep 5") || h.asked[1] != "attempt 2" {
		t.Errorf("calls %v", h.asked)
	}
	if o.Type != abi.OutcomeOK || o.Attempts != 2 || o.ElapsedUS < 6_500_000 || o.ElapsedUS > 6_550_000 {
		t.Errorf("got %+v", o)
	}
}

func TestRunWithAFirstEventThatEndsTheCall(t *testing.T) {
	result := exits(2, "usage")
	h := &fakeHost{t: t}
	o := outcome(t, runRequest(func(r *abi.RunRequest) { r.First = &abi.Event{Type: abi.Attempted, NowUS: 5, Result: &result} }), h)
	if o.Type != abi.OutcomeFailed || len(h.asked) != 0 {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

// A call that says when it started is not asked for the time.
func TestRunOfACallThatHasStarted(t *testing.T) {
	h := &fakeHost{t: t, clock: 9_000_000, result: failing(1)}
	begin := int64(2_000_000)
	o := outcome(t, runRequest(func(r *abi.RunRequest) { r.Call.StartedUS = &begin }), h)
	if o.ElapsedUS != 7_000_000 || !cmp.Equal(h.asked, []string{"attempt 1"}) {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

func TestRunGivesTheStateWithEachAction(t *testing.T) {
	h := &fakeHost{t: t}
	state := ""
	h.result = func(a abi.Action) abi.Result {
		if (a.Attempt == 1) != (a.State == "") || a.State != state {
			t.Errorf("attempt %d has the state %q, its sleep had %q", a.Attempt, a.State, state)
		}
		return failing(4)(a)
	}
	h.onSleep = func(a abi.Action) string {
		state = a.State
		h.clock += a.DelayUS
		return string((&abi.Slept{Wait: abi.WaitFull, NowUS: h.clock}).Encode())
	}
	outcome(t, runRequest(nil), h)
	if state == "" {
		t.Error("no sleep had a state")
	}
}

func TestRunThatIsWoken(t *testing.T) {
	h := &fakeHost{t: t, result: failing(2)}
	random := int64(1 << 31)
	sleeps := 0
	h.onSleep = func(a abi.Action) string {
		sleeps++
		if sleeps == 1 {
			if a.Wake == nil || a.Wake.By != abi.Accepting {
				t.Errorf("the sleep cannot be woken: %s", a.Encode())
			}
			h.clock += 100_000
			return string((&abi.Slept{Wait: abi.WaitWoken, By: abi.Ready, NowUS: h.clock, Random: &random}).Encode())
		}
		h.clock += a.DelayUS
		return string((&abi.Slept{Wait: abi.WaitFull, NowUS: h.clock}).Encode())
	}
	o := outcome(t, runRequest(nil), h)
	if o.Type != abi.OutcomeOK || o.ElapsedUS != 115_000 || sleeps != 2 {
		t.Errorf("after %d sleeps: %v, %+v", sleeps, h.asked, o)
	}
}

func TestRunThatIsCancelledInASleep(t *testing.T) {
	h := &fakeHost{t: t, result: failing(9)}
	h.onSleep = func(abi.Action) string {
		return string((&abi.Slept{Wait: abi.WaitCancelled, NowUS: 100_000}).Encode())
	}
	o := outcome(t, runRequest(func(r *abi.RunRequest) { r.Call.Write = true }), h)
	if o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsNone || o.Attempts != 1 || o.ElapsedUS != 100_000 || o.Kind != "unavailable" {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

func TestRunThatIsCancelledInAnAttempt(t *testing.T) {
	h := &fakeHost{t: t}
	h.onAttempt = func(abi.Action) string {
		return string((&abi.Event{Type: abi.Cancelled, NowUS: 5, Result: &abi.Result{Signal: "SIGINT"}}).Encode())
	}
	o := outcome(t, runRequest(func(r *abi.RunRequest) { r.Call.Write = true }), h)
	if o.Type != abi.OutcomeCancelled || o.Effects != abi.EffectsUnknown || o.Attempts != 1 {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

const drift = "Error: \n   0: dataset for node type 'P' is ahead of published dataset version 2; run `omnigraph repair` before writing\n\nLocation: x\n"

func TestRunRepairs(t *testing.T) {
	h := &fakeHost{t: t}
	h.result = func(a abi.Action) abi.Result {
		if a.Repair || a.Attempt > 1 {
			return exits(0, "")
		}
		return exits(1, drift)
	}
	local := runRequest(func(r *abi.RunRequest) { r.Call.Remote, r.Call.Write = false, true })
	o := outcome(t, local, h)
	if o.Type != abi.OutcomeOK || o.Attempts != 2 || !cmp.Equal(h.asked, []string{"now", "attempt 1", "repair", "attempt 2"}) {
		t.Errorf("%v: %+v", h.asked, o)
	}
	// A repair that was done when the caller gave up is not the write.
	h = &fakeHost{t: t}
	h.onAttempt = func(a abi.Action) string {
		result := exits(1, drift)
		e := abi.Event{Type: abi.Attempted, Result: &result}
		if a.Repair {
			result = exits(0, "")
			e.Type = abi.Cancelled
		}
		return string(e.Encode())
	}
	if o := outcome(t, local, h); o.Type != abi.OutcomeCancelled || o.Attempts != 1 {
		t.Errorf("%v: %+v", h.asked, o)
	}
}

// A state without an event goes on with the attempt that it was waiting for.
func TestRunOfAStateAlone(t *testing.T) {
	doc, _ := policy.BuiltIn("omnigraph")
	seed, result := int64(1), exits(1, away)
	call := abi.Call{Remote: true, ConnectRetry: true, Seed: &seed}
	_, state, err := policy.Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, NowUS: 5, Result: &result}, false)
	if err != nil {
		t.Fatal(err)
	}
	h := &fakeHost{t: t, clock: 600_000, result: failing(2)}
	o := outcome(t, runRequest(func(r *abi.RunRequest) { r.State = state }), h)
	if o.Type != abi.OutcomeOK || o.Attempts != 2 || !cmp.Equal(h.asked, []string{"attempt 2"}) {
		t.Errorf("%v: %+v", h.asked, o)
	}
	// Whether a repair was made only the host knows; a state that is refused
	// leads to no attempt.
	result = exits(1, drift)
	local := abi.Call{Write: true}
	_, mending, err := policy.Decide(doc, &local, "", &abi.Event{Type: abi.Attempted, NowUS: 5, Result: &result}, false)
	if err != nil {
		t.Fatal(err)
	}
	h = &fakeHost{t: t, result: failing(1)}
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) { r.State = mending }), h), abi.CodeBadRequest, "first", "a repair was asked for")
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) { r.State = state[:len(state)-1] }), h), abi.CodeBadState, "state", "is damaged")
	if len(h.asked) > 0 {
		t.Errorf("the host was asked: %v", h.asked)
	}
}

func TestHostFunctionsThatFail(t *testing.T) {
	attempted := func(text string) func(abi.Action) string { return func(abi.Action) string { return text } }
	for _, c := range []struct {
		name, function, message string
		change                  func(*fakeHost)
	}{
		{"no time", abi.HostNow, "gave no answer", func(h *fakeHost) { h.onNow = func() string { return "" } }},
		{"a time without JSON", abi.HostNow, "not a JSON value", func(h *fakeHost) { h.onNow = func() string { return "x" } }},
		{"a time with a fraction", abi.HostNow, "expected a whole number", func(h *fakeHost) { h.onNow = func() string { return `{"now_us":1.5}` } }},
		{"a time of another name", abi.HostNow, "is missing", func(h *fakeHost) { h.onNow = func() string { return `{"now":1}` } }},
		{"no attempt", abi.HostAttempt, "gave no answer", func(h *fakeHost) { h.onAttempt = attempted("") }},
		{"an attempt without JSON", abi.HostAttempt, "not a JSON value", func(h *fakeHost) { h.onAttempt = attempted("x") }},
		{"an attempt without a result", abi.HostAttempt, "is missing", func(h *fakeHost) { h.onAttempt = attempted(`{"type":"attempted","now_us":1}`) }},
		{"an attempt with another field", abi.HostAttempt, "is not a known field", func(h *fakeHost) {
			h.onAttempt = attempted(`{"type":"attempted","now_us":1,"result":{"exitCode":1}}`)
		}},
		{"an attempt that is too long", abi.HostAttempt, "longer than the 65536 bytes allowed", func(h *fakeHost) {
			h.onAttempt = attempted(`{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"` + strings.Repeat("x", 65537) + `"}}`)
		}},
		{"an attempt that is woken", abi.HostAttempt, `"woken"`, func(h *fakeHost) { h.onAttempt = attempted(`{"type":"woken","by":"ready","now_us":1}`) }},
		{"no sleep", abi.HostSleep, "gave no answer", func(h *fakeHost) { h.onSleep = attempted("") }},
		{"a sleep that is a number", abi.HostSleep, "expected an object, not a number", func(h *fakeHost) { h.onSleep = attempted("0") }},
		{"a sleep of another kind", abi.HostSleep, "expected one of", func(h *fakeHost) { h.onSleep = attempted(`{"wait":"slept","now_us":1}`) }},
		{"an attempt that is down", abi.HostAttempt, `"down"`, func(h *fakeHost) { h.onAttempt = attempted(`{"type":"down","now_us":1}`) }},
		{"an attempt that is not ready", abi.HostAttempt, `"not_ready"`, func(h *fakeHost) { h.onAttempt = attempted(`{"type":"not_ready","now_us":1}`) }},
		{"a wake by nobody", abi.HostSleep, "is missing", func(h *fakeHost) { h.onSleep = attempted(`{"wait":"woken","now_us":1}`) }},
	} {
		h := &fakeHost{t: t, result: failing(9)}
		c.change(h)
		e := runEnvelope(t, runRequest(nil), h)
		wantError(t, e, abi.CodeHostFailed, c.function, c.message)
		if len(h.asked) > 3 {
			t.Errorf("%s: it goes on: %v", c.name, h.asked)
		}
	}
}

// An answer that a decision refuses is no failure of the host's function, but
// it stops the call all the same.
func TestRunStopsOnARefusedEvent(t *testing.T) {
	h := &fakeHost{t: t}
	h.onAttempt = func(abi.Action) string { return `{"type":"repaired","now_us":1,"result":{"exit_code":0}}` }
	wantError(t, runEnvelope(t, runRequest(nil), h), abi.CodeBadRequest, "event.type", `"repaired" is unexpected`)
	h = &fakeHost{t: t, result: failing(9)}
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) { r.Call.Seed = nil }), h), abi.CodeBadRequest, "event.random", "is missing")
}

func TestBadRunRequests(t *testing.T) {
	h := &fakeHost{t: t}
	wantError(t, runEnvelope(t, "", h), abi.CodeBadRequest, "", "the value ends too early")
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) { r.Policy.Name = "nope" }), h), abi.CodeUnknownPolicy, "policy", "nope")
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) { r.Policy.Document = `{"version":1}` }), h), abi.CodeInvalidPolicy, "policy.name", "")
	result := exits(1, away)
	wantError(t, runEnvelope(t, runRequest(func(r *abi.RunRequest) {
		r.State = "o1:damaged"
		r.First = &abi.Event{Type: abi.Attempted, Result: &result}
	}), h), abi.CodeBadState, "state", "")
	if len(h.asked) > 0 {
		t.Errorf("the host was asked: %v", h.asked)
	}
}

func TestHostFunctionsThatPanic(t *testing.T) {
	h := &fakeHost{t: t}
	h.onAttempt = func(abi.Action) string { panic("out of memory") }
	wantError(t, runEnvelope(t, runRequest(nil), h), abi.CodeInternal, "", "panic: out of memory")
}

const patient = `{"version":1,"name":"patient","budgets":{"b":{"attempts":1234,"backoff":{"type":"exponential","base":"10ms","multiplier":2,"cap":"1s","jitter":1}}},` +
	`"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`

// After so many attempts run gives back what to go on with, and going on gives
// what one run would have.
func TestRunContinues(t *testing.T) {
	input := func(state string, first *abi.Event) string {
		return runRequest(func(r *abi.RunRequest) {
			r.Policy = abi.PolicyRef{Document: patient}
			r.State, r.First = state, first
		})
	}
	h := &fakeHost{t: t, clock: 33, result: func(abi.Action) abi.Result { return exits(1, "x") }}
	text := enveloped(func(in string) ([]byte, error) { return run(in, h) }, input("", nil))
	runs := 1
	answer, err := abi.DecodeRunAnswer(string(text))
	for err == nil && answer.Outcome == nil {
		if attempts := strings.Count(strings.Join(h.asked, " "), "attempt"); attempts != runs*abi.MaxRunAttempts {
			t.Fatalf("run %d ends after %d attempts", runs, attempts)
		}
		runs++
		text = enveloped(func(in string) ([]byte, error) { return run(in, h) }, input(answer.Continue.State, &answer.Continue.First))
		answer, err = abi.DecodeRunAnswer(string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	if o := answer.Outcome; runs != 3 || o.Type != abi.OutcomeExhausted || o.Attempts != 1234 || o.ElapsedUS != h.clock-33 {
		t.Errorf("%d runs: %+v", runs, o)
	}

	doc, _ := policy.Parse(patient)
	seed, begin, now, state := int64(1), int64(33), int64(33), ""
	call := abi.Call{Remote: true, ConnectRetry: true, Seed: &seed, StartedUS: &begin}
	asked, result := []string{"now", "attempt 1"}, exits(1, "x")
	for {
		a, next, err := policy.Decide(doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: now, Result: &result}, false)
		if err != nil {
			t.Fatal(err)
		}
		if a.Type == abi.Stop {
			break
		}
		asked = append(asked, "sleep "+us(a.DelayUS), "attempt "+us(a.Attempt))
		now, state = now+a.DelayUS, next
	}
	if !cmp.Equal(asked, h.asked) {
		t.Errorf("the calls differ (-decide +run):\n%s", cmp.Diff(asked, h.asked))
	}
}
