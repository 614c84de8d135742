// Package simulate plays calls through outages in virtual time: one call
// attempt by attempt, all the courses that the jitter may take, or a fleet of a
// million callers against a server that takes so many of them per second. The
// policy itself decides, natively or in the plugin; this package only says what
// its attempts meet.
//
// Times are counted from an origin that all callers share, outages included;
// they are whole microseconds. What an attempt meets is settled as it starts.
package simulate

import (
	"context"
	"time"

	"outlast/abi"
	"outlast/plugin/policy"
)

// Decider answers the events of one call, one after the other. A *host.Session
// is one.
type Decider interface {
	Next(ctx context.Context, e abi.Event) (abi.Action, error)
}

// Native asks the policy package itself.
type Native struct {
	doc   *policy.Document
	call  *abi.Call
	state string
}

// NewNative is a decider for one call. Both are only read.
func NewNative(doc *policy.Document, call *abi.Call) *Native {
	return &Native{doc: doc, call: call}
}

// Next implements Decider.
func (n *Native) Next(_ context.Context, e abi.Event) (abi.Action, error) {
	action, state, err := policy.Decide(n.doc, n.call, n.state, &e, false)
	n.state = state
	return action, err
}

// Results are how attempts end that do not succeed.
type Results struct {
	Down   abi.Result // nothing listens
	Busy   abi.Result // the server is full and refuses before it does anything
	Broken abi.Result // the server went away with the call in it
}

// Scene is what a call meets.
type Scene struct {
	Away    []Span
	Loading time.Duration // the end of each outage: the server is there, and loads; attempts fail as before; after a relapse too
	Takes   time.Duration // that an attempt needs to fail
	Results Results
	Watch   *Watch // nil: nobody watches, every wait is slept through
}

// Watch says when a host that watches the server knows that it is back: with
// its next look for a server that accepts connections, and with a further one
// for one that is ready. Of a server that is away, or loads, it knows at once.
type Watch struct {
	Looks     time.Duration // how far apart they are; a single call has just missed one
	Confirmed time.Duration // until the further look
}

// AsHost is a watch as package ready is when it looks the most seldom.
var AsHost = Watch{Looks: 150 * time.Millisecond, Confirmed: 50 * time.Millisecond}

// awayAt is the outage at a time, nil if the server is up.
func awayAt(away []Span, at time.Duration) *Span {
	for i := range away {
		if away[i].From <= at && at < away[i].To {
			return &away[i]
		}
	}
	return nil
}

// wait is the time between two events of a call.
type wait struct {
	from, due time.Duration
	since     time.Duration // the server must come back later than this to wake anybody
	look      time.Duration // after a return of the server: when the caller looks
	wake      *abi.Wake
}

// first is the wait before a call's first attempt: none.
func first(begin, look time.Duration) wait {
	return wait{from: begin, due: begin, since: begin, look: look}
}

// look is when the callers look who have just missed the return.
func (s *Scene) look() time.Duration {
	if s.Watch == nil {
		return 0
	}
	return s.Watch.Looks
}

// next is the wait that an action asks for. A watch goes on through the waits
// for one attempt; after a wake the server must go away again.
func (w *wait) next(now time.Duration, a *abi.Action, e abi.EventType) wait {
	next := wait{from: now, due: now + time.Duration(a.DelayUS)*time.Microsecond, since: now, look: w.look, wake: a.Wake}
	if e.EndsWait() {
		next.since = w.since
	}
	return next
}

// end is how and when a wait ends: attempted stands for the attempt that
// follows a full one.
func (w *wait) end(s *Scene, away []Span) (abi.EventType, time.Duration) {
	if s.Watch == nil || w.wake == nil || w.due == w.from {
		return abi.Attempted, w.due
	}
	known := w.look
	if w.wake.By == abi.Ready {
		known += s.Watch.Confirmed
	}
	held := w.from + time.Duration(w.wake.AfterUS)*time.Microsecond
	for _, o := range away {
		if o.To <= w.since || o.From > w.due {
			continue
		}
		seen := max(o.To+known, held)
		if seen < w.due && awayAt(away, seen) == nil {
			return abi.Woken, seen
		}
	}
	switch o := awayAt(away, w.due); {
	case o == nil:
	case w.due >= o.To-s.Loading:
		return abi.NotReady, w.due
	default:
		return abi.Down, w.due
	}
	return abi.Attempted, w.due
}

// ok is an attempt that succeeds.
var ok = abi.Result{ExitCode: new(int64)}

// clock is a time as a caller's own clock has it, which starts with its call:
// equal callers have equal states then, whenever they begin.
func clock(at, begin time.Duration) int64 { return (at - begin).Microseconds() }

// attempted is the event of an attempt that started and ended.
func attempted(begin, started, ended time.Duration, r *abi.Result) abi.Event {
	result := *r
	from, to := clock(started, begin), clock(ended, begin)
	result.StartedUS, result.EndedUS = &from, &to
	return abi.Event{Type: abi.Attempted, NowUS: to, Result: &result}
}
