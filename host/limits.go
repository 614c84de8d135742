package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"outlast/abi"
)

// WithOneAttempt switches trying again off: each call makes one attempt, and a
// failure that would be tried again ends it as exhausted. It is for a program's
// tests.
func WithOneAttempt() Option {
	return func(o *options) { o.once = true }
}

// errTimeLimit is why an attempt's context is done at Task.AttemptTimeout.
var errTimeLimit = errors.New("outlast: the attempt's time limit has passed")

func (t *Task) checkLimits() error {
	switch {
	case t.Attempts < 0:
		return fmt.Errorf("outlast: task: Attempts: expected 0 for no limit, or from 1 on, not %d", t.Attempts)
	case t.AttemptTimeout < 0:
		return fmt.Errorf("outlast: task: AttemptTimeout: expected 0 for none, or a positive duration, not %v", t.AttemptTimeout)
	case t.On != nil && t.Follow == nil && !t.policy().ForRequests():
		return fmt.Errorf("outlast: task: On: the policy %s does not go by what was seen of requests", t.policy().Name())
	case t.Follow == nil:
		_, err := t.policy().with(t.MaxWait, t.Spread)
		return err
	}
	_, err := Default().with(t.MaxWait, t.Spread) // whether they can be at all
	return err
}

// limited is the context of an attempt, and says at its end whether the limit ended
// it. Real time counts, whatever the Clock: a context knows no other.
func (t *Task) limited(ctx context.Context) (attempting context.Context, end func(*abi.Result)) {
	if t.AttemptTimeout == 0 {
		return ctx, func(*abi.Result) {}
	}
	attempting, cancel := context.WithTimeoutCause(ctx, t.AttemptTimeout, errTimeLimit)
	return attempting, func(r *abi.Result) {
		if context.Cause(attempting) == errTimeLimit && !r.OK() {
			r.TimedOut = true
		}
		cancel()
	}
}

// isAway puts the caller's word that an error means a server that is away into a
// result. What was sent is not for the caller to say, so a write is tried again
// only on evidence.
func (t *Task) isAway(r *abi.Result, err error) {
	if t.On != nil && err != nil && !r.OK() && !r.IsProcess() && t.On(err) {
		r.Failure = abi.FailureUnconnected
	}
}

// bound marks the result of the last attempt that a call may make, so that the
// policy stops there, and weighs what is known of a write as ever.
func (d *driver) bound(n int64, r *abi.Result) {
	most := d.task.Attempts
	if d.once {
		most = 1
	}
	if most > 0 && n >= most && !r.OK() && !r.Streamed {
		r.Streamed, d.bounded = true, true
	}
}

// unmark says of an outcome what its limit was, if that was the number of attempts.
func (d *driver) unmark(o *abi.Outcome) {
	if !d.bounded || o.Reason != abi.ReasonStreamed {
		return
	}
	o.Reason = abi.ReasonAttempts
	if o.Type == abi.OutcomeFailed {
		o.Type = abi.OutcomeExhausted
	}
	story, effects, _ := strings.Cut(o.Message, ":")
	if _, effects, _ = strings.Cut(effects, ";"); effects != "" {
		effects = ";" + effects
	}
	o.Message = "gave up after " + strings.TrimPrefix(story, o.Kind+" after ") + ", all that its caller allows" + effects
}

// with is the policy with another window and another spread, each unless it is 0. The
// last one is kept: a task asks for the same one in each call.
func (p *Policy) with(maxWait, spread time.Duration) (_ *Policy, err error) {
	if known := p.changed.Load(); known != nil && known.maxWait == maxWait && known.spread == spread {
		return known.policy, nil
	}
	made := p
	if maxWait != 0 {
		if made, err = made.WithMaxWait(maxWait); err != nil {
			return nil, err
		}
	}
	if spread != 0 {
		if made, err = made.WithSpread(spread); err != nil {
			return nil, err
		}
	}
	if made != p {
		p.changed.Store(&changed{maxWait, spread, made})
	}
	return made, nil
}

type changed struct {
	maxWait, spread time.Duration
	policy          *Policy
}
