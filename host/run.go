package host

import (
	"context"

	"outlast/abi"
)

// Run carries out a task: this package drives, and has each failure decided on as
// Open says. A call that waits holds nothing of the plugin, so thousands may. A
// context that is done ends an attempt or a wait at once, with the outcome cancelled.
//
// The error is nil only where the outcome is ok. It is a *CallError where there is
// another outcome, which is returned beside it. There is none with a *PluginError,
// or the error with which Attempt or the Clock ended the call.
func (p *Plugin) Run(ctx context.Context, t *Task) (*abi.Outcome, error) {
	return p.wrapped(p.run)(ctx, t)
}

func (p *Plugin) run(ctx context.Context, t *Task) (*abi.Outcome, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	p.crowd.enter()
	defer p.crowd.leave()
	d := p.driver(t)
	defer d.leave()
	event, err := d.attempt(ctx, 1)
	if err != nil {
		return nil, err
	}
	if event.Result.OK() {
		return d.end(ctx, d.succeeded(&event))
	}
	if err := d.choosePolicy(); err != nil {
		return nil, err
	}
	s := p.session(d.task)
	// A decision is short, and must still be made after the call is cancelled.
	for deciding := context.WithoutCancel(ctx); ; {
		action, err := s.Next(deciding, event)
		event = abi.Event{} // a wait must not keep what the attempt printed
		switch {
		case err != nil:
			return nil, d.failed(err)
		case action.Type == abi.Stop && action.Outcome != nil:
			return d.end(ctx, action.Outcome)
		case action.Type != abi.Retry:
			return nil, d.failed(unknownAction(&action, d.last))
		}
		if event, err = p.follow(ctx, d, &action); err != nil {
			return nil, err
		}
	}
}

// follow waits and attempts or repairs, as the action says.
func (p *Plugin) follow(ctx context.Context, d *driver, a *abi.Action) (abi.Event, error) {
	if a.DelayUS > 0 {
		slept, err := d.wait(ctx, a)
		if err != nil {
			return abi.Event{}, err
		}
		if e := eventOf(&slept); e != nil {
			return *e, nil
		}
	}
	if a.Repair {
		return d.repair(ctx, a), nil
	}
	return d.attempt(ctx, a.Attempt)
}

func unknownAction(a *abi.Action, last *abi.Result) *PluginError {
	return &PluginError{
		Doing: "deciding", LastResult: last,
		Err: &abi.Error{Code: abi.CodeInternal, Field: "action.type", Message: "this host does not know the action " + string(a.Type)},
	}
}
