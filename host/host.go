// Package host loads outlast's plugin and drives calls through a server's
// restart with it.
//
// A call's first attempt runs before anything of the plugin is touched: a call
// that succeeds costs nothing. After a failure its policy decides whether and when
// to try again.
//
//	plugin, err := host.Open()
//	…
//	defer plugin.Close(ctx)
//	outcome, err := plugin.Run(ctx, &host.Task{
//		Call:    host.Call{Label: "orders", Remote: true, Read: true},
//		Attempt: httpattempt.Do(client, request, read),
//	})
//
// An error that is nil means that the call succeeded. Package httpattempt makes
// attempts of HTTP requests; any function will do that says how it ended. A
// command needs a policy that knows what it prints.
//
// Run serves thousands of calls at a time. RunInPlugin lets the plugin drive, with
// an instance for each call. A Session is for callers with a loop of their own. All
// of them decide alike; Open says what executes WebAssembly for that.
package host

import (
	"context"
	"time"

	"outlast/abi"
)

// Call says what a call is. What is left out counts as the careful case: the call
// is then a write, and nothing that may have been applied is done again.
type Call struct {
	Label           string        // for messages, such as "query"
	Remote          bool          // over the network, to a server that may restart
	Read            bool          // it changes nothing, so it may be repeated
	SurfaceConflict bool          // a compare-and-swap: lose a race rather than repeat the write
	NoConnectRetry  bool          // do not wait for a server that is away
	Repeatable      bool          // a write that may be applied again; while one of its attempts is in doubt, so is the call
	Budget          time.Duration // the call's total budget; 0: none
	Seed            *int64        // of the jitter, from 0 to 2^53-1; nil: a random one
	Started         time.Duration // on the Clock, before any wait for a lock; 0: with the first attempt

	// RefusesBeforeActing is the caller's word that this server answers 409, 410,
	// 412, 422, 429 and 503 before it does anything: a write that it refused so was
	// not applied. Of a server that may act first, it makes a write apply twice.
	RefusesBeforeActing bool

	// OneRequest says whether an attempt is known to make one request that can
	// have effects (true), or may make several (false), so that what it prints
	// does not prove that nothing of a write was applied. nil: the policy's rules
	// alone decide.
	OneRequest *bool
}

// Task is a call with the ways to carry it out.
type Task struct {
	Policy *Policy // nil: Default

	// Follow is what the call goes by instead of Policy: what is in force at its
	// first failure, to its end, whatever becomes of the folder meanwhile.
	Follow *Followed
	Call   Call

	// Attempt makes one attempt; n counts from 1. It obeys the context, and its
	// result says how the attempt ended. An error beside a result that is a failure
	// is the attempt's own, and is found in Run's error. An error beside an empty
	// result means that the attempt could not be made at all, and ends the call.
	Attempt func(ctx context.Context, n int64) (abi.Result, error)

	// OnlyRequest is the caller's word that an attempt makes one request and no
	// other, by no other client, goroutine or program, and that its client follows
	// no redirect and tries nothing again: one to which no connection was made then
	// was not sent. If that is wrong, a write may be applied twice. Package
	// httpattempt sees it where it makes the request, and needs no such word. An
	// attempt whose error has a method Requests() int that counts several takes it
	// back. One with a method Unseen() string tells, for the error of a write that
	// is in doubt, what would have been evidence.
	OnlyRequest bool

	// MaxWait is how long this call waits for a server that is away, instead of the
	// policy's window: whole microseconds, and positive; 0: the policy's. A policy
	// without a window is an error, before the first attempt unless Follow has it.
	MaxWait time.Duration

	// Spread is how far apart calls start that see their server return, instead of the
	// policy's: each at a moment of its own within so long. It is for a fleet; outlast
	// verify --callers says how wide. Whole microseconds, up to MaxSpread; 0: the
	// policy's. A policy that cuts no wait short stays as it is.
	Spread time.Duration

	// Attempts is the most attempts that this call makes, the first one included,
	// whatever the policy leaves room for; 0: the policy alone decides. None of them is
	// left out while the server is seen to be down. A call that ends by it is exhausted,
	// for abi.ReasonAttempts, and names no budget.
	Attempts int64

	// AttemptTimeout ends the context of an attempt that takes longer, in real time;
	// 0: never. A read is then tried again, a write only where it was seen that
	// nothing was sent. An attempt that does not obey its context is waited for.
	AttemptTimeout time.Duration

	// On says which errors of an attempt, beside those that are known, mean that the
	// server is away, as with errors.Is or errors.As; nil: none. A read or a call that
	// is Repeatable then waits for it. A write does so only where it was seen that
	// nothing was sent. The policy must be one for requests.
	On func(err error) bool

	// Repair repairs what the policy asks for, with force if it says so. nil: a
	// repair is reported as failed.
	Repair func(ctx context.Context, force bool) (abi.Result, error)

	// Observe gets what happens, as it happens, on the goroutine of the call.
	Observe Observer

	// Clock is the time that the policy lives by; nil: SystemClock.
	Clock Clock

	// Ready sees whether the server is back, for waits that the policy lets it
	// cut short; nil: they are slept through.
	Ready Readiness

	// Unwatched is why Ready is nil where it might have been expected, such as a
	// proxy in the way. The observer is told at the first wait that Ready could
	// have cut short.
	Unwatched string

	// Secrets are replaced wherever a text of an attempt leaves this package.
	Secrets []string
}

func (t *Task) policy() *Policy {
	if t.Policy == nil {
		return Default()
	}
	return t.Policy
}

func (t *Task) clock() Clock {
	if t.Clock == nil {
		return SystemClock()
	}
	return t.Clock
}

func (t *Task) observe(e Event) {
	if t.Observe != nil {
		t.Observe(e)
	}
}

// repair is what the repair came to. One that cannot be made has failed.
func (t *Task) repair(ctx context.Context, force bool) abi.Result {
	if t.Repair != nil {
		result, err := t.Repair(ctx, force)
		if err == nil {
			return result
		}
		return abi.Result{Message: abi.Clip(err.Error())}
	}
	return abi.Result{Message: abi.Clip("this host cannot repair")}
}
