package simulate

import (
	"context"
	"fmt"
	"time"

	"outlast/abi"
)

// Met is what one moment of a call came to.
type Met string

// What a call meets.
const (
	MetDown    Met = "down"     // an attempt, and nothing listened
	MetUp      Met = "up"       // an attempt, and it succeeded
	MetWoken   Met = "woken"    // the wait was cut short: the server was seen to be back
	MetLeftOut Met = "left out" // the wait was over, and the server was seen to be away: no attempt
	MetLoading Met = "loading"  // the same, and the server was seen to be there and not ready
)

// Moment is one event of a call.
type Moment struct {
	Met     Met
	Attempt int64         // its number, or the number of the one that follows
	At      time.Duration // the attempt's start
	Ended   time.Duration // its end; else the same as At
	Waited  time.Duration // since the event before
	Kind    string        // that the policy calls the failure
}

// Story is a call from its beginning to its end.
type Story struct {
	Begin    time.Duration
	Moments  []Moment
	Deadline time.Duration // of the last window that opened; 0: there was none
	End      time.Duration
	Outcome  abi.Outcome
}

// OK says whether the call succeeded.
func (s *Story) OK() bool { return s.Outcome.Type == abi.OutcomeOK }

// Last is the start of its last attempt.
func (s *Story) Last() time.Duration {
	for i := len(s.Moments) - 1; ; i-- {
		if m := &s.Moments[i]; m.Met == MetDown || m.Met == MetUp {
			return m.At
		}
	}
}

// Starts are the starts of its attempts.
func (s *Story) Starts() (list []time.Duration) {
	for _, m := range s.Moments {
		if m.Met == MetDown || m.Met == MetUp {
			list = append(list, m.At)
		}
	}
	return list
}

// Chance gives the random number for an event, from 0 to 2^32-1; the events of
// a call are counted from 0.
type Chance func(event int) int64

// MaxChance is the highest number that a Chance gives.
const MaxChance = 1<<32 - 1

// Play plays one call that begins at a time. Without a chance its jitter is
// the decider's own. A success in the first attempt is not decided upon.
func Play(ctx context.Context, d Decider, s *Scene, begin time.Duration, chance Chance) (*Story, error) {
	story := &Story{Begin: begin}
	w := first(begin, s.look())
	for n, attempt := 0, int64(1); ; n++ {
		how, at := w.end(s, s.Away)
		m := Moment{Attempt: attempt, At: at, Ended: at, Waited: at - w.from}
		event := m.meet(how, s, begin, w.wake)
		if chance != nil {
			u := chance(n)
			event.Random = &u
		}
		action := abi.Action{Type: abi.Stop, Outcome: &abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone, Attempts: 1}}
		if n > 0 || m.Met != MetUp {
			var err error
			if action, err = d.Next(ctx, event); err != nil {
				return nil, err
			}
		}
		m.Kind = action.Kind
		if m.Met == MetUp {
			m.Kind = ""
		}
		story.Moments = append(story.Moments, m)
		if action.RemainingUS != nil {
			story.Deadline = m.Ended + time.Duration(*action.RemainingUS)*time.Microsecond
		}
		switch {
		case action.Type == abi.Stop && action.Outcome != nil:
			story.End, story.Outcome = m.Ended, *action.Outcome
			return story, nil
		case action.Type != abi.Retry || action.Repair:
			return nil, notSimulated(&action)
		}
		attempt = action.Attempt
		w = w.next(m.Ended, &action, event.Type)
	}
}

// meet is the event that the moment is for the policy.
func (m *Moment) meet(how abi.EventType, s *Scene, begin time.Duration, wake *abi.Wake) abi.Event {
	switch {
	case how == abi.Woken:
		m.Met = MetWoken
		return abi.Event{Type: how, NowUS: clock(m.At, begin), By: wake.By}
	case how.EndsWait():
		m.Met = MetLeftOut
		if how == abi.NotReady {
			m.Met = MetLoading
		}
		return abi.Event{Type: how, NowUS: clock(m.At, begin)}
	case awayAt(s.Away, m.At) != nil:
		m.Met = MetDown
		m.Ended = m.At + s.Takes
		return attempted(begin, m.At, m.Ended, &s.Results.Down)
	}
	m.Met = MetUp
	return attempted(begin, m.At, m.Ended, &ok)
}

func notSimulated(a *abi.Action) error {
	return fmt.Errorf("the policy asks for what is not simulated: %s", a.Encode())
}
