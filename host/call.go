package host

import (
	"context"
	"errors"
	"strings"
	"time"

	"outlast/abi"
	"outlast/internal/redact"
	"outlast/internal/repeat"
	"outlast/plugin/policy"
)

// driver carries out what a policy asks for, for both drive loops.
type driver struct {
	task        *Task
	crowd       *crowd
	lastError   string                            // of the last failed attempt, as an outcome would quote it
	repairError string                            // of the last failed repair
	last        *abi.Result                       // of an attempt; in a wait and after it, without its texts
	own         error                             // what the last attempt that failed returned beside its result
	seen        time.Duration                     // when the last event came, on the Clock
	lookout     *lookout                          // since the last attempt; nil: nobody watches
	turn        Turns                             // the last watch, which waits to hear how the attempt went; nil: none
	waited      bool                              // since the last attempt
	once        bool                              // no call makes a second attempt
	bounded     bool                              // the last attempt was the last that the call may make
	saidWhy     bool                              // that nobody watches
	knows       func(context.Context, int64) bool // whether the plugin has a minor version of the contract
}

// attempt makes attempt n and gives its event.
func (d *driver) attempt(ctx context.Context, n int64) (abi.Event, error) {
	d.lookAway()
	d.waited = false
	clock := d.task.clock()
	if n > 1 && ctx.Err() != nil { // cancelled since the attempt before
		return abi.Event{Type: abi.Cancelled, NowUS: micros(clock.Now())}, nil
	}
	started := micros(clock.Now())
	attempting, end := d.task.limited(repeat.Attempt(ctx, d.task.Call.Read || d.task.Call.Repeatable, d.task.OnlyRequest))
	result, err := d.task.Attempt(attempting, n)
	end(&result)
	if err != nil && (result == (abi.Result{}) || result.OK()) {
		return abi.Event{}, err
	}
	now := clock.Now()
	d.own = err
	d.claim(&result)
	d.task.isAway(&result, err)
	d.clean(&result)
	if result.StartedUS == nil {
		result.StartedUS = &started
	}
	if result.EndedUS == nil {
		ended := micros(now)
		result.EndedUS = &ended
	}
	d.last = &result
	if result.OK() {
		d.went(Answered)
	} else {
		d.lastError = d.quoted(&result)
	}
	d.task.observe(AttemptEnded{Attempt: n, At: now, OK: result.OK(), Result: result})
	d.bound(n, &result)
	return d.event(ctx, abi.Attempted, now, &result), nil
}

// claim puts the caller's word that an attempt makes one request into a result,
// unless several were seen.
func (d *driver) claim(r *abi.Result) {
	var seen interface{ Requests() int }
	if !d.task.OnlyRequest || r.IsProcess() || errors.As(d.own, &seen) && seen.Requests() > 1 {
		return
	}
	r.OnlyRequest = true
	switch r.Failure {
	case abi.FailureUnresolved, abi.FailureUnconnected, abi.FailureUntrusted:
		if r.Sent == "" || r.Sent == abi.SentUnknown {
			r.Sent = abi.SentNo
		}
	}
}

// quoted is what an outcome quotes of a result. It is a copy, since the text that
// it is from may be a hundred times as long and should not be kept.
func (d *driver) quoted(r *abi.Result) (text string) {
	d.crowd.aside(func() { text = strings.Clone(policy.ErrorText(r)) })
	return text
}

// forget drops what the last attempt printed, except what an outcome quotes, since
// thousands of calls may wait at one time.
func (d *driver) forget() {
	if d.last == nil {
		return
	}
	brief := *d.last
	brief.Stdout, brief.Stderr, brief.Message = abi.Text{}, abi.Text{}, abi.Text{}
	if brief.IsProcess() {
		brief.Stderr.Head = d.lastError
	} else {
		brief.Message.Head = d.lastError
	}
	d.last = &brief
}

// event is what the policy is told. A result that comes with a cancelled
// context may be that of an attempt or a repair which was cut off.
func (d *driver) event(ctx context.Context, t abi.EventType, now time.Duration, r *abi.Result) abi.Event {
	if ctx.Err() != nil {
		t = abi.Cancelled
	}
	d.seen = now
	return abi.Event{Type: t, NowUS: micros(now), Result: r}
}

func (d *driver) repair(ctx context.Context, a *abi.Action) abi.Event {
	d.task.observe(Repairing{Kind: a.Kind, Force: a.RepairForce, At: d.task.clock().Now()})
	result := d.task.repair(ctx, a.RepairForce)
	d.clean(&result)
	if !result.OK() {
		d.repairError = d.quoted(&result)
	}
	return d.event(ctx, abi.Repaired, d.task.clock().Now(), &result)
}

// wait waits until an action's delay is over. The delay counts from the event
// that led to the action, so that the time to load the plugin and to decide is
// part of it. A context that is done cuts it short, and what is seen of the
// server where the action says so.
func (d *driver) wait(ctx context.Context, a *abi.Action) (abi.Slept, error) {
	d.forget()
	if !d.waited {
		d.went(Failed) // else this wait goes on, or spreads those who were woken
	}
	clock := d.task.clock()
	w := Waiting{
		Kind: a.Kind, Budget: a.Budget, Attempt: a.Attempt, Again: d.waited, At: clock.Now(),
		Delay: time.Duration(a.DelayUS) * time.Microsecond,
	}
	if a.RemainingUS != nil {
		left := time.Duration(*a.RemainingUS) * time.Microsecond
		w.Remaining = &left
	}
	watch := d.lookOut(a.Wake)
	if watch != nil {
		w.Watched = a.Wake.By
	}
	d.task.observe(w)
	d.waited = true
	decided := max(0, w.At-d.seen) // a clock may go backwards
	left := max(0, w.Delay-decided)
	if watch == nil {
		return d.slept(ctx, abi.WaitFull, "", clock.Sleep(ctx, left))
	}
	held := max(0, time.Duration(a.Wake.AfterUS)*time.Microsecond-decided)
	woken, err := watch.sleep(ctx, clock, left, held, a.Wake.By)
	switch {
	case err == nil && woken != "":
		return d.slept(ctx, abi.WaitWoken, woken, nil)
	case err == nil:
		return d.slept(ctx, d.full(ctx, watch.watch.Seen()), "", nil)
	}
	return d.slept(ctx, abi.WaitFull, "", err)
}

// full is how a wait that is over ended, in a word that the plugin knows. Of attempts
// that are counted none is left out: the last one would wait for the deadline.
func (d *driver) full(ctx context.Context, seen Seen) abi.Wait {
	switch {
	case d.task.Attempts > 0:
		return abi.WaitFull
	case seen.Down && d.knows(ctx, minorDown):
		return abi.WaitDown
	case seen.NotReady && d.knows(ctx, minorNotReady):
		return abi.WaitNotReady
	}
	return abi.WaitFull
}

// slept is how a wait ended, which the policy is told of where it was not full.
func (d *driver) slept(ctx context.Context, how abi.Wait, by abi.Readiness, err error) (abi.Slept, error) {
	now := d.task.clock().Now()
	switch {
	case ctx.Err() != nil:
		how, by = abi.WaitCancelled, ""
	case err != nil:
		return abi.Slept{}, err
	case how == abi.WaitWoken:
		d.lookAway() // it must be seen away again before it can come back
		d.seen = now
		d.task.observe(Woken{By: by, At: now})
	case how == abi.WaitDown, how == abi.WaitNotReady:
		d.seen = now
		d.task.observe(LeftOut{At: now, NotReady: how == abi.WaitNotReady})
	}
	return abi.Slept{Wait: how, By: by, NowUS: micros(now)}, nil
}

// eventOf is the event that a wait ended in; nil: it was full.
func eventOf(s *abi.Slept) *abi.Event {
	switch s.Wait {
	case abi.WaitWoken:
		return &abi.Event{Type: abi.Woken, NowUS: s.NowUS, By: s.By}
	case abi.WaitDown:
		return &abi.Event{Type: abi.Down, NowUS: s.NowUS}
	case abi.WaitNotReady:
		return &abi.Event{Type: abi.NotReady, NowUS: s.NowUS}
	case abi.WaitCancelled:
		return &abi.Event{Type: abi.Cancelled, NowUS: s.NowUS}
	}
	return nil
}

// end is what a call came to: an outcome that is not ok is an error too.
func (d *driver) end(ctx context.Context, o *abi.Outcome) (*abi.Outcome, error) {
	switch {
	case o.Reason == abi.ReasonRepairFailed:
		o.LastError = d.lastError + "\nrepair: " + d.repairError
	case o.LastError == "" && o.Type != abi.OutcomeOK:
		o.LastError = d.lastError
	}
	d.unmark(o)
	d.lookAway()
	d.went(answeredBy(o.Type))
	d.task.observe(Stopped{Outcome: *o, At: d.task.clock().Now()})
	if o.Type == abi.OutcomeOK {
		return o, nil
	}
	e := &CallError{Outcome: o, Err: d.own, text: "outlast: " + o.Message}
	if cause := context.Cause(ctx); o.Type == abi.OutcomeCancelled && !errors.Is(d.own, cause) {
		e.cause = cause
	}
	for _, err := range e.Unwrap() {
		e.text += ": " + d.redact(err.Error())
	}
	var seen interface{ Unseen() string }
	if o.Type == abi.OutcomeIndeterminate && !d.task.OnlyRequest && errors.As(d.own, &seen) && seen.Unseen() != "" {
		e.text += "; " + seen.Unseen()
	}
	return o, e
}

// succeeded is the outcome of a call whose first attempt succeeded. The plugin
// is not asked: it could not say anything else.
func (d *driver) succeeded(e *abi.Event) *abi.Outcome {
	started := e.NowUS
	switch {
	case d.task.Call.Started != 0:
		started = micros(d.task.Call.Started)
	case e.Result.StartedUS != nil:
		started = *e.Result.StartedUS
	}
	return &abi.Outcome{
		Type: abi.OutcomeOK, Effects: abi.EffectsNone, Attempts: 1, ElapsedUS: max(0, e.NowUS-started),
	}
}

func (d *driver) redact(s string) string { return redact.Secrets(s, d.task.Secrets) }

// clean makes a result fit to go on: without secrets, before anything is cut
// that could leave half of one, and with texts no longer than the contract has.
func (d *driver) clean(r *abi.Result) {
	for _, t := range []*abi.Text{&r.Stdout, &r.Stderr, &r.Message} {
		t.Head, t.Tail = d.redact(t.Head), d.redact(t.Tail)
		if !t.Cut {
			*t = abi.Clip(t.Head)
		}
	}
}
