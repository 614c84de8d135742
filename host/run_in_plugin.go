package host

import (
	"context"
	"fmt"

	"outlast/abi"
	"outlast/host/internal/engine"
)

// RunInPlugin carries out a task as Run does, but the plugin drives: its export
// run calls back for the time, for sleep and for each attempt. It takes an
// instance of its own for as long as the call lasts.
func (p *Plugin) RunInPlugin(ctx context.Context, t *Task) (*abi.Outcome, error) {
	return p.wrapped(p.runInPlugin)(ctx, t)
}

func (p *Plugin) runInPlugin(ctx context.Context, t *Task) (*abi.Outcome, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	d := p.driver(t)
	defer d.leave()
	first, err := d.attempt(ctx, 1)
	if err != nil {
		return nil, err
	}
	if first.Result.OK() {
		return d.end(ctx, d.succeeded(&first))
	}
	if err := d.choosePolicy(); err != nil {
		return nil, err
	}
	call := t.Call.wire()
	if err := p.told(context.WithoutCancel(ctx), &call); err != nil {
		return nil, d.failed(&PluginError{Doing: "running the policy", Err: err, LastResult: d.last})
	}
	first = p.toldOf(context.WithoutCancel(ctx), first)
	c := &callbacks{driver: d, plugin: p, ctx: ctx, call: call, next: &first}
	for {
		answer, err := c.run()
		switch {
		case c.err != nil:
			return nil, d.failed(c.err)
		case err != nil:
			return nil, d.failed(&PluginError{Doing: "running the policy", Err: err, LastResult: d.last})
		case answer.Outcome != nil:
			return d.end(ctx, answer.Outcome)
		}
		c.state, c.next = answer.Continue.State, &answer.Continue.First
	}
}

// callbacks are the host functions of one call. They keep the last state and
// event, so that another instance can go on where one fails.
type callbacks struct {
	*driver
	plugin *Plugin
	ctx    context.Context
	call   abi.Call
	state  string
	next   *abi.Event // that follows on state; nil: the next attempt
	moved  bool       // since the last instance was replaced
	err    error      // that ended the call: an attempt that could not be made, a clock that failed
}

// run calls the export once, on a new instance. One that fails is replaced, and
// the call goes on with its state, unless two fail in a row at the same point.
func (c *callbacks) run() (abi.RunAnswer, error) {
	answer, err := c.runOnce(c.task.policy().whole())
	c.plugin.reportLoad(c.task)
	for err != nil && !isAnswer(err) && c.err == nil {
		c.task.observe(InstanceReplaced{Err: err})
		c.moved = false
		var again error
		if answer, again = c.runOnce(c.task.policy().whole()); again != nil && !c.moved {
			return answer, fmt.Errorf("%w (and again: %w)", err, again)
		}
		err = again
	}
	return answer, err
}

func (c *callbacks) runOnce(policy abi.PolicyRef) (abi.RunAnswer, error) {
	// The plugin must still report after the call is cancelled.
	ctx := context.WithoutCancel(c.ctx)
	instance, err := c.plugin.engine.NewInstance(ctx)
	if err != nil {
		return abi.RunAnswer{}, err
	}
	defer instance.Close(ctx)
	request := abi.RunRequest{Policy: policy, Call: c.call, State: c.state, First: c.next}
	out, err := instance.Call(ctx, abi.ExportRun, request.Encode(), c)
	if err != nil {
		return abi.RunAnswer{}, err
	}
	return abi.DecodeRunAnswer(string(out))
}

var _ engine.Host = (*callbacks)(nil)

// Now answers outlast_now.
func (c *callbacks) Now(context.Context) []byte {
	return abi.EncodeNow(micros(c.task.clock().Now()))
}

// Sleep answers outlast_sleep.
func (c *callbacks) Sleep(_ context.Context, action []byte) []byte {
	a, ok := c.read(action)
	if !ok {
		return nil
	}
	slept, err := c.wait(c.ctx, &a)
	if err != nil {
		c.err = err
		return nil
	}
	c.next = eventOf(&slept)
	return slept.Encode()
}

// Attempt answers outlast_attempt, which asks for repairs too.
func (c *callbacks) Attempt(_ context.Context, action []byte) []byte {
	a, ok := c.read(action)
	if !ok {
		return nil
	}
	event, err := abi.Event{}, error(nil)
	if a.Repair {
		event = c.repair(c.ctx, &a)
	} else if event, err = c.attempt(c.ctx, a.Attempt); err != nil {
		c.err = err
		return nil
	}
	event = c.plugin.toldOf(context.WithoutCancel(c.ctx), event)
	c.next = &event
	return event.Encode()
}

// read keeps the state that an action comes with. An action that this host does
// not know stops the call.
func (c *callbacks) read(text []byte) (abi.Action, bool) {
	a, err := abi.DecodeAction(string(text))
	if err == nil && a.Type != abi.Retry {
		err = unknownAction(&a, c.last).Err
	}
	if err != nil {
		c.err = &PluginError{Doing: "running the policy", Err: err, LastResult: c.last}
		return a, false
	}
	c.state, c.next, c.moved = a.State, nil, true
	c.plugin.reportLoad(c.task)
	return a, true
}
