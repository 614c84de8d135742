package retry

import (
	"context"
	"errors"
	"iter"

	"outlast/host"
)

// ErrNotEnded says that a loop's body came to its end without Attempt.End. Whether the
// attempt succeeded is not known, so the call is cancelled, a read's too.
var ErrNotEnded = errors.New("outlast: retry: the loop's body did not call Attempt.End")

// ErrLeft says that the loop was left before an attempt succeeded.
var ErrLeft = errors.New("outlast: retry: the loop was left before an attempt succeeded")

// Loop is a call whose attempts are the turns of a loop.
type Loop struct {
	ctx    context.Context
	plugin *host.Plugin
	task   *host.Task
	begun  bool
	err    error
}

// Attempts is a loop that makes a call's attempts, for code that is no function:
//
//	loop := retry.Attempts(ctx, plugin, &host.Task{Call: call})
//	for attempt := range loop.All() {
//		people, err = query(attempt.Context())
//		attempt.End(err)
//	}
//	if err := loop.Err(); err != nil {
//
// There is a next turn only if the policy wants one. Success has to be said: a turn
// that does not call End ends the call with ErrNotEnded. To leave the loop before
// success ends it with ErrLeft, whose *host.CallError says whether a write is in
// doubt.
func Attempts(ctx context.Context, plugin *host.Plugin, task *host.Task) *Loop {
	return &Loop{ctx: ctx, plugin: plugin, task: task, err: ErrLeft}
}

// Attempt is one turn of a loop. It is for the goroutine of the loop.
type Attempt struct {
	// Number counts from 1.
	Number int64

	ctx   context.Context
	ended bool
	err   error
}

// Context bounds the attempt; requests that have it are seen.
func (a *Attempt) Context() context.Context { return a.ctx }

// End says how the attempt ended: nil means that it succeeded, and ends the loop.
// The first word counts.
func (a *Attempt) End(err error) {
	if !a.ended {
		a.ended, a.err = true, err
	}
}

// All are the attempts. They can be made once.
func (l *Loop) All() iter.Seq[*Attempt] {
	return func(yield func(*Attempt) bool) {
		if l.begun {
			l.err = errors.New("outlast: retry: the loop's attempts have been made")
			return
		}
		l.begun = true
		ctx, leave := context.WithCancelCause(l.ctx)
		defer leave(nil)
		n := int64(0)
		l.err = run(ctx, l.plugin, l.task, func(ctx context.Context) error {
			n++
			a := &Attempt{Number: n, ctx: ctx}
			more := yield(a)
			switch {
			case more && !a.ended:
				a.End(ErrNotEnded)
				leave(ErrNotEnded)
			case !more && !a.ended:
				a.End(ErrLeft)
				leave(ErrLeft)
			case !more && a.err != nil:
				leave(ErrLeft)
			}
			return a.err
		})
	}
}

// Err is how the call ended, once the loop is over: nil if an attempt succeeded,
// else as host.Plugin.Run's.
func (l *Loop) Err() error { return l.err }
