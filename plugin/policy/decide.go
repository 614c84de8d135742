package policy

import "outlast/abi"

// Decide answers one event of a call: what to do next, and the state to give
// back with the event after it. State is "" for a call's first event, and the
// answer's is "" once the action is to stop. Errors are *abi.Error: the host
// stops, and never starts over.
func Decide(doc *Document, call *abi.Call, stateText string, e *abi.Event, explain bool) (abi.Action, string, error) {
	d := decision{doc: doc, call: call, event: e}
	if err := d.load(stateText); err != nil {
		return abi.Action{}, "", err
	}
	action, err := d.answer(explain)
	if err != nil {
		return abi.Action{}, "", err
	}
	if action.Type == abi.Stop {
		return action, "", nil
	}
	return action, d.encode(doc), nil
}

// decision is one event being answered.
type decision struct {
	*state
	doc    *Document
	call   *abi.Call
	event  *abi.Event
	passed int64 // since the event before
	view   *view // of the event's result, if it has one
}

// load reads the state and moves its time to the event's.
func (d *decision) load(text string) error {
	e := d.event
	if text == "" {
		if e.Type != abi.Attempted && e.Type != abi.Cancelled {
			return unexpected(e, "a call begins with an attempt")
		}
		d.state = newState(d.doc)
		d.last = started(d.call, e)
		d.advance(e.NowUS, 0)
		return nil
	}
	s, err := decodeState(d.doc, text)
	if err != nil {
		return err
	}
	d.state = s
	atLeast := int64(0)
	switch e.Type {
	case abi.Attempted:
		if s.phase >= repairing {
			return unexpected(e, "the action asked for a repair")
		}
		atLeast = s.pending
	case abi.Repaired:
		if s.phase < repairing {
			return unexpected(e, "no repair was asked for")
		}
		atLeast = s.pending
	case abi.Woken:
		if s.phase != attempting || s.pending == 0 {
			return unexpected(e, "there is no wait that it could cut short")
		}
	case abi.Down:
		if s.phase != attempting || s.pending == 0 {
			return unexpected(e, "there is no wait that could be over")
		}
		atLeast = s.pending
	}
	d.passed = d.advance(e.NowUS, atLeast)
	return nil
}

func unexpected(e *abi.Event, why string) error {
	return &abi.Error{Code: abi.CodeBadRequest, Field: "event.type", Message: `"` + string(e.Type) + `" is unexpected: ` + why}
}

// started is when a call began: as it says itself, else when its first attempt
// did, else now.
func started(call *abi.Call, e *abi.Event) int64 {
	switch {
	case call.StartedUS != nil:
		return *call.StartedUS
	case e.Result != nil && e.Result.StartedUS != nil:
		return *e.Result.StartedUS
	}
	return e.NowUS
}

func (d *decision) answer(explain bool) (abi.Action, error) {
	if d.event.Result != nil {
		d.view = viewOf(d.event.Result, d.doc.KeepColours)
	}
	switch d.event.Type {
	case abi.Attempted:
		return d.attempted(explain)
	case abi.Repaired:
		return d.afterRepair(), nil
	case abi.Woken:
		return d.woken()
	case abi.Down:
		return d.down()
	}
	if d.ran() && d.event.Result.OK() {
		return d.attempted(explain) // it was done before the cancelling reached it
	}
	return d.cancelled(), nil
}

// ran says whether the event has the result of an attempt, not of a repair.
func (d *decision) ran() bool {
	return d.event.Result != nil && d.phase < repairing
}

func (d *decision) attempted(explain bool) (abi.Action, error) {
	d.attempts++
	if d.event.Result.OK() {
		return d.stop(&abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone}), nil
	}
	rule, condition := d.doc.recognise(d.call, d.view)
	d.remember(rule.kind)
	d.contact(rule.Server)
	branch := rule.branch(d.call, d.repaired > 0)
	action, err := d.follow(rule, branch)
	if err == nil {
		action.Kind = rule.Kind
		if explain {
			action.Why = condition.why(rule, d.view)
		}
	}
	return action, err
}

// contact closes the windows of budgets that count them, once the server has
// been reached: that outage is over.
func (d *decision) contact(c Contact) {
	if c == Unseen {
		return
	}
	if c == Broken {
		d.broken++
	}
	for i := range d.budgets {
		if d.doc.Budgets[i].Windows > 0 {
			d.budgets[i] = spent{opened: d.budgets[i].opened, count: d.budgets[i].count}
		}
	}
}

func (d *decision) follow(rule *Rule, b *Branch) (abi.Action, error) {
	switch {
	case b.Stop != nil:
		return d.stop(d.stopped(b.Stop)), nil
	case d.event.Result.Streamed:
		return d.stop(d.gaveUp(abi.OutcomeFailed, abi.ReasonStreamed, -1)), nil
	case d.attempts >= abi.MaxAttempts:
		return d.stop(d.gaveUp(abi.OutcomeExhausted, abi.ReasonMaxAttempts, b.Retry)), nil
	}
	if rule.Server == Broken {
		if limit := d.doc.Budgets[b.Retry].Broken; limit >= 0 && d.broken > limit {
			return d.stop(d.gaveUp(abi.OutcomeExhausted, abi.ReasonBroken, b.Retry)), nil
		}
	}
	return d.retry(b)
}

// stopped is the outcome that a rule's stop asks for.
func (d *decision) stopped(s *StopRule) *abi.Outcome {
	o := &abi.Outcome{Type: s.Outcome, Effects: d.effects(s.Effects), Remedy: s.Remedy}
	if o.Type == "" {
		o.Type = abi.OutcomeFailed
		if o.Effects == abi.EffectsUnknown {
			o.Type = abi.OutcomeIndeterminate
		}
	}
	return o
}

// effects are a write's; a read has none.
func (d *decision) effects(e abi.Effects) abi.Effects {
	if d.call.Write {
		return e
	}
	return abi.EffectsNone
}

// afterRepair goes on with the attempt that the repair was for, or stops.
func (d *decision) afterRepair() abi.Action {
	if d.phase == repairing && !d.event.Result.OK() {
		return d.stop(d.gaveUp(abi.OutcomeFailed, abi.ReasonRepairFailed, -1))
	}
	return d.next(int(d.budget), 0)
}

// cancelled ends the call. If no attempt was running, nothing has been applied:
// a failure that may have been is never retried.
func (d *decision) cancelled() abi.Action {
	o := &abi.Outcome{Type: abi.OutcomeCancelled, Effects: abi.EffectsNone}
	if d.ran() {
		d.attempts++
		rule, _ := d.doc.recognise(d.call, d.view)
		d.remember(rule.kind)
		// What would be tried again has not been applied.
		if b := rule.branch(d.call, d.repaired > 0); b.Stop != nil {
			o.Effects = d.effects(b.Stop.Effects)
		}
	}
	return d.stop(o)
}
