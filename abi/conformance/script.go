package conformance

import (
	"context"
	"encoding/json"
	"fmt"
)

// script is a Host that plays a case's steps. It compares each action that it
// is given with what the step before wants, and after the last step answers
// nothing, which ends the loop.
type script struct {
	c        *Case
	next     int // the step that is played next
	now      int64
	pending  int64           // the delay that was asked for and has not passed yet
	want     json.RawMessage // the next action
	states   bool            // actions carry a state, as run's do
	problems []string
}

// newScript begins at a step, as though the steps before had been played.
func newScript(c *Case, from int, now int64) *script {
	s := &script{c: c, next: from, now: now, want: json.RawMessage(firstAction)}
	if from > 0 {
		s.want = c.Steps[from-1].Want
	}
	return s
}

// Now implements Host.
func (s *script) Now(context.Context) []byte {
	if broken := s.broken("outlast_now"); broken != nil {
		return broken.bytes()
	}
	return fmt.Appendf(nil, `{"now_us":%d}`, s.now)
}

// Sleep implements Host: the wait is full unless the next step cuts it short, or
// is that the server is down or not ready.
func (s *script) Sleep(_ context.Context, text []byte) []byte {
	s.compare(text)
	a, err := readAction(text)
	if err != nil {
		return s.fail(err.Error())
	}
	if a.DelayUS <= 0 {
		return s.fail("asked to sleep without a delay")
	}
	s.pending = a.DelayUS
	if broken := s.broken("outlast_sleep"); broken != nil {
		return broken.bytes()
	}
	if s.next == len(s.c.Steps) {
		return nil
	}
	step := &s.c.Steps[s.next]
	if how := step.leftOut(); how != "" {
		s.now += s.wait(step)
		s.pending = 0
		s.play()
		return fmt.Appendf(nil, `{"wait":%q,"now_us":%d%s}`, how, s.now, step.random())
	}
	if !step.cutsShort() {
		s.now += s.wait(step)
		return fmt.Appendf(nil, `{"wait":"full","now_us":%d}`, s.now)
	}
	s.pending = 0
	s.now += step.AfterUS
	s.play()
	if step.Woken == "" {
		return fmt.Appendf(nil, `{"wait":"cancelled","now_us":%d}`, s.now)
	}
	return fmt.Appendf(nil, `{"wait":"woken","by":%q,"now_us":%d%s}`, step.Woken, s.now, step.random())
}

// Attempt implements Host: it gives the next step's event.
func (s *script) Attempt(_ context.Context, text []byte) []byte {
	s.compare(text)
	if broken := s.broken("outlast_attempt"); broken != nil {
		return broken.bytes()
	}
	if s.next == len(s.c.Steps) {
		return nil
	}
	step := &s.c.Steps[s.next]
	if s.pending == 0 && !step.cutsShort() {
		s.now += s.wait(step) // there was no wait, yet the clock may have moved
	}
	if step.cutsShort() {
		s.now += step.AfterUS
	}
	event := s.event(step)
	s.play()
	return event
}

// event is what a step tells the plugin; the clock has passed the wait before.
func (s *script) event(step *Step) []byte {
	s.now += step.TakesUS
	s.pending = 0
	return step.event(s.now)
}

// play moves to the next step, and remembers what answers this one.
func (s *script) play() {
	s.want = s.c.Steps[s.next].Want
	s.next++
}

// wait is how far the clock moves before the step's event begins.
func (s *script) wait(step *Step) int64 {
	if step.WaitUS != nil {
		return *step.WaitUS
	}
	return s.pending
}

// compare checks an action against the one that is due.
func (s *script) compare(text []byte) {
	plain, state, err := parted(text)
	switch {
	case err != nil:
		s.fail(err.Error())
		return
	case s.want == nil:
		s.fail(fmt.Sprintf("after step %d there is an action, where an error is wanted: %s", s.next, text))
		return
	}
	s.problems = append(s.problems, same(fmt.Sprintf("after step %d: action", s.next), s.want, plain)...)
	if s.states && s.next > 0 {
		s.problems = append(s.problems, stateProblems(state, true)...)
	}
}

func (s *script) fail(problem string) []byte {
	s.problems = append(s.problems, problem)
	return nil
}

// broken is the next step's broken function, if it is the one that is called.
func (s *script) broken(function string) *Broken {
	if s.next < len(s.c.Steps) {
		if b := s.c.Steps[s.next].Broken; b != nil && b.Function == function {
			s.play()
			return b
		}
	}
	return nil
}

func (b *Broken) bytes() []byte {
	if b.Answer == "" {
		return nil
	}
	return []byte(b.Answer)
}

// cutsShort says whether the step's event comes in a wait, if there is one.
func (s *Step) cutsShort() bool {
	return s.Woken != "" || string(s.Cancelled) == "true"
}

// leftOut is the word for a server that is seen as the wait ends, so that the
// attempt would fail; "" for any other step.
func (s *Step) leftOut() string {
	switch {
	case s.Down:
		return "down"
	case s.NotReady:
		return "not_ready"
	}
	return ""
}

// event is the step's event, seen at a time.
func (s *Step) event(now int64) []byte {
	switch {
	case s.Attempt != nil:
		return fmt.Appendf(nil, `{"type":"attempted","now_us":%d%s,"result":%s}`, now, s.random(), s.Attempt)
	case s.Repair != nil:
		return fmt.Appendf(nil, `{"type":"repaired","now_us":%d%s,"result":%s}`, now, s.random(), s.Repair)
	case s.Woken != "":
		return fmt.Appendf(nil, `{"type":"woken","now_us":%d%s,"by":%q}`, now, s.random(), s.Woken)
	case s.leftOut() != "":
		return fmt.Appendf(nil, `{"type":%q,"now_us":%d%s}`, s.leftOut(), now, s.random())
	case s.cutsShort():
		return fmt.Appendf(nil, `{"type":"cancelled","now_us":%d}`, now)
	}
	return fmt.Appendf(nil, `{"type":"cancelled","now_us":%d,"result":%s}`, now, s.Cancelled)
}

// random is the event's random number as a member, or nothing.
func (s *Step) random() string {
	if s.Random == nil {
		return ""
	}
	return fmt.Sprintf(`,"random":%d`, *s.Random)
}
