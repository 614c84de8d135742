// Package measure finds out how long a server is away: it watches one through
// its restarts, or reads what Kubernetes recorded of them.
package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outlast/outages"
)

// The defaults, all choices.
const (
	DefaultEvery          = 100 * time.Millisecond // a server hardly notices ten connections a second
	DefaultHold           = time.Second            // a restart that flaps is one outage
	DefaultTimeout        = time.Second            // a health check that takes longer helps nobody
	DefaultCommandTimeout = 10 * time.Second       // a command starts a process, and may work
)

// Watcher watches a target.
type Watcher struct {
	Target  Target
	Every   time.Duration // from the beginning of a look to that of the next, if it has ended
	Timeout time.Duration // of one look
	Hold    time.Duration // how long it must be up for an outage to have ended; 0: the first good look ends it
	Host    string        // this machine's name, for the record
	Tool    string        // what measures, for the record
}

// Watch looks at the target until ctx ends, and tells each look to observe, in
// its own goroutine. An outage begins with the first failed look after a good
// one, and ends with the first good one after which it stays up for Hold. If ctx
// ends while the target is back from one, that outage is told as ended; one that
// is still going on is given back, as the sample that it began with.
//
// The error says why the target cannot be watched: a command that cannot be
// started. It is nil when ctx ended.
func (w *Watcher) Watch(ctx context.Context, observe func(Event)) (open *Sample, err error) {
	t := &tracker{target: &w.Target, every: w.Every, hold: w.Hold, host: w.Host, tool: w.Tool}
	look := w.Target.prober(w.Timeout)
	var last Sample
	for first := true; ; first = false {
		s, err := look(ctx)
		if ctx.Err() != nil {
			break // perhaps only the look was ended, and the server is up
		}
		if err != nil && first {
			return nil, err
		}
		if err != nil {
			s.Why = err.Error()
		}
		if !first && jumped(last.End, s.End) {
			observe(Event{Kind: Unusable, Sample: s})
			t.forget()
		}
		observe(t.feed(s))
		last = s
		if !sleep(ctx, w.Every-time.Since(s.Start)) {
			break
		}
	}
	switch {
	case t.open == nil:
		return nil, nil
	case t.open.back == nil:
		return &t.open.first, nil
	}
	observe(t.end(last))
	return nil, nil
}

// maxJump is how far the wall clock may be from the other in the time between
// two looks (a choice: what corrects clocks does so in smaller steps).
const maxJump = time.Second

// jumped says whether, between two moments, the wall clock was set or the machine
// slept. The monotonic clock may then have stood still, and what was measured is
// worth nothing.
func jumped(before, now time.Time) bool {
	return apart(now.Round(0).Sub(before.Round(0)), now.Sub(before))
}

func apart(wall, steady time.Duration) bool { return (wall - steady).Abs() > maxJump }

// sleep says whether ctx is still on afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Validate says what is wrong with the watcher's settings.
func (w *Watcher) Validate() error {
	switch {
	case w.Every < time.Millisecond || w.Every > time.Hour:
		return fmt.Errorf("expected to look every 1ms to 1h, not every %v", w.Every)
	case w.Timeout < time.Millisecond || w.Timeout > time.Hour:
		return fmt.Errorf("expected a timeout of 1ms to 1h, not %v", w.Timeout)
	case w.Hold < 0 || w.Hold > time.Hour:
		return fmt.Errorf("expected that it must be up for 0s to 1h, not for %v", w.Hold)
	case w.Target.Scheme == "" && len(w.Target.Command) == 0:
		return errors.New("expected a target or a command")
	}
	return nil
}

// Words say a state to people.
func Words(state outages.State) string {
	return words[state]
}

var words = map[outages.State]string{
	outages.Refused:     "refuses connections",
	outages.Unreachable: "cannot be reached",
	outages.Accepting:   "accepts connections, but does not answer",
	outages.Unready:     "answers, but is not ready",
	outages.Failing:     "fails",
	outages.Ready:       "is up",
}
