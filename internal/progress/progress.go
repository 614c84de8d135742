// Package progress folds the events of a call into what has become of it so far:
// its attempts, its waits and what they were for. The progress line, the report
// and the metrics all tell from this one state.
package progress

import (
	"time"

	"outlast/host"
)

// State is what the events of a call come to. Its times are on the call's clock.
// It is for one goroutine at a time, as observers are.
type State struct {
	Started  time.Duration // of the call; 0: not known before the first attempt
	Finished time.Duration // of the call; 0: it goes on
	Attempts []Attempt
	Repairs  int64
	Budgets  []*Budget // in the order in which failures counted on them first
	Wait     Wait      // the latest

	counts  *time.Duration // when the event was that the next delay counts from; nil: with the wait itself
	loading bool           // the server was last seen to be there, and not ready
	waiting *wait          // nil: no wait is under way
	outage  outage
}

// Attempt is one attempt that has ended.
type Attempt struct {
	Number   int64          // counted from 1
	Started  *time.Duration // nil: not known
	Ended    time.Duration
	OK       bool
	ExitCode *int64 // nil: none, such as after a signal
	Signal   string
	TimedOut bool
	Streamed bool
	Kind     string // of its failure, as the policy has decided; "": not decided yet, or none
	Budget   string // that the failure counts on; "": none
}

// Budget is what a call has spent of one of its policy's budgets.
type Budget struct {
	Name     string
	Attempts int64 // that failed and count on it
	Waited   time.Duration

	opened *time.Duration // when the first failure of its window was seen
	window time.Duration  // 0: it has none
}

// Wait is a wait for an attempt.
type Wait struct {
	Kind    string        // of the failure that it is for
	Loading bool          // the server is there, and not ready
	Attempt int64         // that follows
	Opened  time.Duration // when the first failure of the budget's window was seen
	Window  time.Duration // of the budget; 0: it has none
	Due     time.Duration // when the attempt is due
}

// wait is what is counted of the wait that is under way.
type wait struct {
	since time.Duration // with the end of the attempt before, so that deciding counts
	on    *Budget
}

// outage is for how long the server was away.
type outage struct {
	away    *time.Duration // the failure that first said so; nil: none did
	back    time.Duration  // the end of the attempt after the last wait for it
	waiting bool           // such a wait is not over
}

// Add takes the next event.
func (s *State) Add(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		s.ended(&e)
	case host.Waiting:
		s.waits(&e)
	case host.Woken:
		s.counts = &e.At
	case host.LeftOut:
		s.counts, s.loading = &e.At, e.NotReady
	case host.Repairing:
		s.stopWaiting(e.At)
		s.failed(e.Kind, "")
		s.Repairs++
		s.counts = nil // a repair is no wait, and its end is no event
	case host.Stopped:
		s.stopWaiting(e.At)
		s.outage.end(e.At)
		if o := &e.Outcome; o.Kind != "" {
			s.failed(o.Kind, o.Budget)
		}
	}
}

// Finish ends a call, at a time on its clock, also one that came to no outcome.
func (s *State) Finish(at time.Duration) {
	s.stopWaiting(at)
	s.Finished = at
}

// Waited is how long the call waited between attempts.
func (s *State) Waited() (all time.Duration) {
	for _, b := range s.Budgets {
		all += b.Waited
	}
	return all
}

// Outage is for how long the call found the server away: from the first failure
// that says so to the end of the attempt after the last wait for it. ok is false
// where the server was not away, or its return was not seen.
func (s *State) Outage() (d time.Duration, ok bool) {
	if s.outage.away == nil || s.outage.waiting {
		return 0, false
	}
	return max(0, s.outage.back-*s.outage.away), true
}

func (s *State) ended(e *host.AttemptEnded) {
	r := &e.Result
	a := Attempt{
		Number: e.Attempt, Ended: e.At, OK: e.OK, ExitCode: r.ExitCode, Signal: r.Signal, TimedOut: r.TimedOut, Streamed: r.Streamed,
	}
	began := e.At
	if r.StartedUS != nil {
		began = time.Duration(*r.StartedUS) * time.Microsecond
		a.Started = &began
		if s.Started == 0 {
			s.Started = began
		}
	}
	s.stopWaiting(began)
	s.outage.end(e.At)
	s.Attempts = append(s.Attempts, a)
	s.counts, s.loading = &e.At, false
}

// waits notes a wait, or that one goes on.
func (s *State) waits(e *host.Waiting) {
	from := e.At
	if s.counts != nil {
		from = min(from, *s.counts)
	}
	s.failed(e.Kind, e.Budget)
	b := s.budget(e.Budget)
	if s.waiting == nil {
		s.waiting = &wait{from, b}
	}
	if e.Remaining != nil { // only a server that is away has a window
		s.outage.begin(s.waiting.since)
	}
	b.open(from, e.Remaining)
	s.Wait = Wait{
		Kind: e.Kind, Loading: s.loading, Attempt: e.Attempt, Opened: *b.opened, Window: b.window, Due: from + e.Delay,
	}
}

// open notes when the window was opened. The first failure has all of it left;
// from then on it is what is left and what has passed.
func (b *Budget) open(from time.Duration, left *time.Duration) {
	switch {
	case left != nil:
		b.window = max(b.window, *left)
		from += *left - b.window
	case b.opened != nil:
		return
	}
	b.opened = &from
}

// failed says what the last attempt's failure was, once.
func (s *State) failed(kind, on string) {
	if len(s.Attempts) == 0 {
		return
	}
	a := &s.Attempts[len(s.Attempts)-1]
	if a.OK || a.Kind != "" {
		return
	}
	a.Kind, a.Budget = kind, on
	if on != "" {
		s.budget(on).Attempts++
	}
}

func (s *State) stopWaiting(at time.Duration) {
	if s.waiting != nil {
		s.waiting.on.Waited += max(0, at-s.waiting.since)
		s.waiting = nil
	}
}

func (s *State) budget(name string) *Budget {
	for _, b := range s.Budgets {
		if b.Name == name {
			return b
		}
	}
	b := &Budget{Name: name}
	s.Budgets = append(s.Budgets, b)
	return b
}

func (o *outage) begin(at time.Duration) {
	o.waiting = true
	if o.away == nil {
		o.away = &at
	}
}

func (o *outage) end(at time.Duration) {
	if o.waiting {
		o.back, o.waiting = at, false
	}
}
