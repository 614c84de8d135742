package metrics

import (
	"time"

	"outlast/host"
)

// tally is what the events of a call come to.
type tally struct {
	attempts int64
	waitUS   int64

	ended   time.Duration  // the last attempt's end
	waiting bool           // since then
	away    *time.Duration // when the server was first seen away
	back    time.Duration  // the end of the attempt after the last wait for it
	sought  bool           // such a wait is not over
}

func (t *tally) add(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		began := e.At
		if us := e.Result.StartedUS; us != nil {
			began = time.Duration(*us) * time.Microsecond
		}
		t.stopWaiting(began)
		if t.sought {
			t.back, t.sought = e.At, false
		}
		t.attempts++
		t.ended = e.At
	case host.Waiting:
		t.waiting = true
		if e.Remaining != nil { // only a server that is away has a window
			t.sought = true
			if t.away == nil {
				ended := t.ended
				t.away = &ended
			}
		}
	case host.Repairing:
		t.stopWaiting(e.At)
		t.ended = e.At
	case host.Stopped:
		t.stopWaiting(e.At)
		if t.sought {
			t.back, t.sought = e.At, false
		}
	}
}

// stopWaiting ends a wait, which began with the end of the attempt before.
func (t *tally) stopWaiting(at time.Duration) {
	if t.waiting {
		t.waitUS += max(0, at-t.ended).Microseconds()
		t.waiting = false
	}
}

// outage is for how long the server was away, in microseconds: from the first
// failure that says so to the end of the attempt after the last wait for it.
// nil: it was not away.
func (t *tally) outage() *int64 {
	if t.away == nil || t.sought {
		return nil
	}
	us := max(0, t.back-*t.away).Microseconds()
	return &us
}
