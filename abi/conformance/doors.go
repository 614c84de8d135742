package conformance

import (
	"context"
	"encoding/json"
	"fmt"
)

// throughDoor plays a case with steps or an outage through one door.
func throughDoor(ctx context.Context, p Plugin, c *Case, door Door) []string {
	switch {
	case c.Outage != nil:
		return c.throughOutage(ctx, p, door)
	case door == DoorResumed:
		return c.resumed(ctx, p)
	}
	s := newScript(c, 0, c.ClockUS)
	if door == DoorDecide {
		return c.decided(ctx, p, s)
	}
	request := c.request()
	if door == DoorFirst {
		request.First = s.firstEvent()
	}
	s.states = true
	answer, problems := called(ctx, p, request, s)
	if problems == nil {
		problems = s.ended(answer)
	}
	return append(s.problems, problems...)
}

// request is the case's request without anything that has happened yet.
func (c *Case) request() requestOf {
	return requestOf{Policy: c.Policy, Call: c.Call}
}

// decided drives with decide.
func (c *Case) decided(ctx context.Context, p Plugin, s *script) []string {
	request := c.request()
	request.Explain = c.Explain
	d := &driven{p: p, h: s, request: request, stopped: s.compare}
	answer, problems, err := d.loop(ctx)
	if err != nil {
		return append(append(s.problems, problems...), err.Error())
	}
	return append(append(s.problems, problems...), s.ended(answer)...)
}

// called calls run.
func called(ctx context.Context, p Plugin, request requestOf, h Host) (answer []byte, problems []string) {
	answer, err := p.Call(ctx, "run", request.bytes(), h)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return answer, nil
}

// firstEvent plays the first step without the plugin.
func (s *script) firstEvent() []byte {
	step := &s.c.Steps[s.next]
	if step.cutsShort() {
		s.now += step.AfterUS
	} else {
		s.now += s.wait(step)
	}
	event := s.event(step)
	s.play()
	return event
}

// ended checks how run ended after the script: with the last step's outcome or
// error, or, where the last step wants a retry, because nothing answered it.
func (s *script) ended(answer []byte) []string {
	last := s.c.Steps[len(s.c.Steps)-1]
	e, err := opened(answer)
	if err != nil {
		return []string{err.Error()}
	}
	if s.next < len(s.c.Steps) {
		return append([]string{fmt.Sprintf("it ended after step %d of %d", s.next, len(s.c.Steps))}, mismatch(nil, e.Error)...)
	}
	if last.WantError != nil {
		return mismatch(last.WantError, e.Error)
	}
	want, err := readAction(last.Want)
	if err != nil {
		return []string{err.Error()}
	}
	if want.Type != "stop" {
		return mismatch(want.unanswered(), e.Error)
	}
	if problems := mismatch(nil, e.Error); problems != nil {
		return problems
	}
	return sameOutcome(want.Outcome, e.OK)
}

// unanswered is the error where nobody follows a retry.
func (a *action) unanswered() *WantError {
	if a.DelayUS > 0 {
		return &WantError{Code: "host_failed", Field: "outlast_sleep"}
	}
	return &WantError{Code: "host_failed", Field: "outlast_attempt"}
}

func sameOutcome(want, ok json.RawMessage) []string {
	var answer struct {
		Outcome json.RawMessage `json:"outcome"`
	}
	if err := json.Unmarshal(ok, &answer); err != nil || answer.Outcome == nil {
		return []string{fmt.Sprintf("no outcome: %s", ok)}
	}
	return same("outcome", want, answer.Outcome)
}

// resumed loses the instance after every step: each event goes into a new run
// with the state of the action before, and the first host call that follows is
// not answered. An attempt is also made by a run that has the state alone.
func (c *Case) resumed(ctx context.Context, p Plugin) []string {
	var before kept
	now := c.ClockUS
	for i := range c.Steps {
		step := &c.Steps[i]
		s := newScript(c, i, now)
		s.pending = before.DelayUS
		request := c.request()
		request.State = before.State
		request.First = s.firstEvent()
		h := &dying{}
		answer, problems := called(ctx, p, request, h)
		if problems != nil {
			return problems
		}
		after, problems := h.kept(i, step, answer, s)
		if problems != nil {
			return problems
		}
		if step.Attempt != nil && before.State != "" && !before.Repair {
			problems := c.withStateAlone(ctx, p, request, before, h)
			if problems != nil {
				return under(fmt.Sprintf("with the state alone, step %d", i+1), problems)
			}
		}
		before, now = after, s.now
	}
	return nil
}

// kept is what a host has when an instance is lost.
type kept struct {
	action
	Attempt int64 `json:"attempt"`
	Repair  bool  `json:"repair"`
}

// kept checks what came after step i, in which answer is how run ended.
func (d *dying) kept(i int, step *Step, answer []byte, s *script) (kept, []string) {
	var k kept
	last := i == len(s.c.Steps)-1
	switch {
	case !d.called && last:
		return k, s.ended(answer)
	case !d.called:
		return k, append([]string{fmt.Sprintf("it ended after step %d of %d", i+1, len(s.c.Steps))}, s.ended(answer)...)
	case step.Want == nil:
		return k, []string{fmt.Sprintf("after step %d there is an action, where an error is wanted: %s", i+1, d.action)}
	}
	plain, state, err := parted(d.action)
	if err != nil {
		return k, []string{err.Error()}
	}
	problems := append(same(fmt.Sprintf("after step %d: action", i+1), step.Want, plain), stateProblems(state, true)...)
	if err := json.Unmarshal(d.action, &k); err != nil {
		problems = append(problems, err.Error())
	}
	return k, problems
}

// withStateAlone has run make the attempt of which request has the event, and
// compares what comes next with what came of the event.
func (c *Case) withStateAlone(ctx context.Context, p Plugin, request requestOf, before kept, want *dying) []string {
	h := &dying{event: request.First}
	request.First = nil
	answer, problems := called(ctx, p, request, h)
	if problems != nil {
		return problems
	}
	first := fmt.Sprintf(`{"type":"retry","attempt":%d,"delay_us":0,"state":%q}`, before.Attempt, before.State)
	if problems := same("the attempt's action", []byte(first), orNull(h.asked)); problems != nil {
		return problems
	}
	if h.called != want.called {
		return []string{fmt.Sprintf("it ends otherwise: %s", answer)}
	}
	if h.called {
		return same("the next action", want.action, h.action)
	}
	return nil
}

// dying is a host whose plugin is lost in the first host call after an event:
// the event of the request, or the one that it answers to an attempt.
type dying struct {
	event  []byte // to be answered first, if there is one
	asked  []byte // the action that it answers
	called bool
	action []byte
}

func (d *dying) Now(context.Context) []byte { return nil }

func (d *dying) Sleep(_ context.Context, action []byte) []byte { return d.keep(action) }

func (d *dying) Attempt(_ context.Context, action []byte) []byte {
	if event := d.event; event != nil {
		d.asked, d.event = append([]byte(nil), action...), nil
		return event
	}
	return d.keep(action)
}

func (d *dying) keep(action []byte) []byte {
	if !d.called {
		d.called, d.action = true, append([]byte(nil), action...)
	}
	return nil
}
