package policy

import (
	"cmp"

	"outlast/abi"
)

// Decide answers one event of a call: what to do next, and the state to give
// back with the event after it. State is "" for a call's first event, and the
// answer's is "" once the action is to stop. Errors are *abi.Error: the host
// stops, and never starts over.
func Decide(doc *Document, call *abi.Call, stateText string, e *abi.Event, explain bool) (abi.Action, string, error) {
	d := decision{doc: doc, call: call, chosen: chosenAs(call), event: e}
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
	doc      *Document
	call     *abi.Call
	chosen   *abi.Call // as rules, branches and wakes are chosen
	event    *abi.Event
	passed   int64 // since the event before
	view     *view // of the event's result, if it has one
	unproven bool  // the rule says that nothing was applied, but it knows of one request only
}

// chosenAs is the call as rules, branches and wakes are chosen for it: a
// repeatable write may be applied again, as a read may. What is told of its
// effects goes by the call itself.
func chosenAs(call *abi.Call) *abi.Call {
	if !call.Write || !call.Repeatable {
		return call
	}
	read := *call
	read.Write = false
	return &read
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
	case abi.Down, abi.NotReady:
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
		d.view = d.doc.view(d.call, d.event.Result)
	}
	switch d.event.Type {
	case abi.Attempted:
		return d.attempted(explain)
	case abi.Repaired:
		return d.afterRepair(), nil
	case abi.Woken:
		return d.woken()
	case abi.Down, abi.NotReady:
		return d.leftOut()
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
		return d.stop(&abi.Outcome{Type: abi.OutcomeOK}), nil
	}
	rule, condition := d.doc.recognise(d.chosen, d.view)
	d.remember(rule.kind)
	d.contact(rule.Server)
	branch := rule.branch(d.chosen, d.repaired > 0)
	d.weigh(branch, condition)
	action, err := d.follow(rule, branch)
	if err == nil {
		action.Kind = rule.Kind
		if explain {
			action.Why = condition.why(rule, d.view)
			if d.unproven {
				action.Why.Matched = append(action.Why.Matched, abi.Matched{In: "call", Text: "may make several requests"})
			}
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
		if budget, s := &d.doc.Budgets[i], &d.budgets[i]; budget.Windows > 0 {
			*s = spent{opened: s.opened, count: s.count, vain: d.keptVain(i, c)}
		}
	}
}

// keptVain is how many vain wakes go over into a budget's next window. Where the
// spread grows, a wake whose connection breaks is vain too: the server may have
// fallen over because all came back, and would again if they came as before. One
// more wake is always left.
func (d *decision) keptVain(i int, c Contact) int64 {
	wake := d.doc.Budgets[i].Wake
	if c != Broken || !d.vain(i) || wake == nil || wake.Growth == 0 {
		return 0
	}
	return min(d.budgets[i].vain+1, wake.MaxVain-1)
}

func (d *decision) follow(rule *Rule, b *Branch) (abi.Action, error) {
	switch {
	case b.Stop != nil:
		return d.stop(&abi.Outcome{Type: cmp.Or(b.Stop.Outcome, abi.OutcomeFailed), Remedy: b.Stop.Remedy}), nil
	case d.doubt && !d.call.Repeatable:
		return d.stop(&abi.Outcome{Type: abi.OutcomeFailed}), nil
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

// weigh notes that what this attempt did is in doubt, as it stays until the call
// is ok. The branch is the one that was chosen, the condition what its rule was
// recognised by.
func (d *decision) weigh(chosen *Branch, by *Condition) {
	if !d.call.Write {
		return
	}
	own := chosen
	if d.call.Repeatable {
		var rule *Rule
		rule, by = d.doc.recognise(d.call, d.view)
		own = rule.branch(d.call, d.repaired > 0)
	}
	switch {
	// What would be tried again has not been applied, if there is evidence of it.
	case own.Stop != nil && own.Stop.Effects == abi.EffectsUnknown, !d.evident(by):
		d.doubt = true
	// What it printed is of one request, and there may have been others.
	case d.call.OneRequest != nil && !*d.call.OneRequest && (d.event.Result.Sent != abi.SentNo || d.view.sent != abi.SentNo):
		d.doubt, d.unproven = true, true
	}
}

// afterRepair goes on with the attempt that the repair was for, or stops.
func (d *decision) afterRepair() abi.Action {
	if d.phase == repairing && !d.event.Result.OK() {
		return d.stop(d.gaveUp(abi.OutcomeFailed, abi.ReasonRepairFailed, -1))
	}
	return d.next(int(d.budget), 0)
}

// cancelled ends the call. If no attempt was running, what is known of those
// before it stands.
func (d *decision) cancelled() abi.Action {
	if d.ran() {
		d.attempts++
		rule, condition := d.doc.recognise(d.chosen, d.view)
		d.remember(rule.kind)
		d.weigh(rule.branch(d.chosen, d.repaired > 0), condition)
	}
	return d.stop(&abi.Outcome{Type: abi.OutcomeCancelled})
}
