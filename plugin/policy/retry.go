package policy

import "outlast/abi"

// retry counts the failure on the branch's budget and computes the delay, or
// stops because a limit is reached. The call's own limit is looked at first, so
// it wins a tie.
func (d *decision) retry(b *Branch) (abi.Action, error) {
	budget, s := &d.doc.Budgets[b.Retry], &d.budgets[b.Retry]
	s.count++
	vain := d.vain(b.Retry)
	if budget.MaxWait > 0 && s.open == 0 {
		if budget.Windows > 0 && s.opened >= budget.Windows {
			return d.exhausted(abi.ReasonWindows, b.Retry), nil
		}
		*s = spent{open: 1, opened: s.opened + 1, count: s.count, vain: s.vain}
	}
	if b.Repair != nil {
		return d.repair(b), nil
	}
	if budget.CallBudget == CallClamp && d.callLeft() <= 0 {
		return d.exhausted(abi.ReasonCall, b.Retry), nil
	}
	if budget.MaxWait > 0 && s.time >= budget.MaxWait {
		return d.exhausted(abi.ReasonWindow, b.Retry), nil
	}
	delay, asked, err := d.delay(budget, s, vain)
	if err != nil {
		return abi.Action{}, err
	}
	return d.limited(b.Retry, delay, asked), nil
}

// backoff is a backoff's delay, and what was drawn by chance for it.
func (d *decision) backoff(b *Backoff, step int64) (delay, u int64, err error) {
	if b.draws() {
		if u, err = d.chance(d.call, d.event); err != nil {
			return 0, 0, err
		}
	}
	return b.delay(step, u), u, nil
}

// limited applies the limits that depend on the delay.
func (d *decision) limited(i int, delay int64, asked *int64) abi.Action {
	budget, s, left := &d.doc.Budgets[i], &d.budgets[i], d.callLeft()
	reason := ""
	switch {
	case asked != nil && budget.RetryAfter.refuses(*asked) && (budget.RetryAfter.Max < left || !budget.refusesPast()):
		reason = abi.ReasonRetryAfter // the smaller of two limits that it passed; the call's wins a tie
	case budget.CallBudget == CallStopAbove && delay > left && (asked == nil || *asked > left),
		budget.CallBudget == CallStopAt && delay >= left:
		reason = abi.ReasonCall
	case budget.Attempts > 0 && s.count >= budget.Attempts:
		reason, asked = abi.ReasonAttempts, nil
	}
	if reason != "" {
		o := d.gaveUp(abi.OutcomeExhausted, reason, i)
		o.RetryAfterUS = asked
		if reason != abi.ReasonAttempts {
			o.RefusedUS = &delay
		}
		return d.stop(o)
	}
	if budget.CallBudget == CallClamp || budget.CallBudget == CallStopAbove {
		delay = min(delay, left) // stop_above: only jitter on top of Retry-After is cut
	}
	if budget.MaxWait > 0 {
		delay = min(delay, budget.MaxWait-s.time)
	}
	return d.next(i, delay)
}

// refuses says whether a server asked for more than is waited for.
func (r *RetryAfter) refuses(asked int64) bool { return r.Max > 0 && asked > r.Max }

// refusesPast says whether a delay that passes the call's own budget stops it.
func (b *Budget) refusesPast() bool {
	return b.CallBudget == CallStopAbove || b.CallBudget == CallStopAt
}

// delay is the wait before the next attempt: what is left of the schedule after
// a vain wake, what the server asked for, or the backoff's next step.
func (d *decision) delay(b *Budget, s *spent, vain bool) (delay int64, asked *int64, err error) {
	if vain {
		s.vain++
		if left := d.left - max(0, d.passed-d.pending); left > 0 {
			return left, nil, nil
		}
	}
	s.step++
	if b.Attempts > 0 {
		s.step = s.count
	}
	hint := d.view.retryAfter
	heard := hint != nil && *hint >= 0 && b.RetryAfter != nil
	if heard && !b.RetryAfter.Floor {
		return d.asAsked(b.RetryAfter, *hint)
	}
	delay, u, err := d.backoff(&b.Backoff, s.step)
	if err != nil {
		return 0, nil, err
	}
	if heard {
		if wait := b.RetryAfter.wait(*hint, u); wait >= delay {
			return wait, hint, nil
		}
	}
	return delay, nil, nil
}

// wait is a server's Retry-After with jitter on top, for a chance of u/(2^32-1).
func (r *RetryAfter) wait(hint, u int64) int64 {
	return sum(hint, scale(fractionOf(hint, r.Jitter), u))
}

// asAsked is a server's Retry-After with jitter on top, never earlier.
func (d *decision) asAsked(r *RetryAfter, hint int64) (delay int64, asked *int64, err error) {
	if r.Jitter == 0 {
		return hint, &hint, nil
	}
	u, err := d.chance(d.call, d.event)
	if err != nil {
		return 0, nil, err
	}
	return r.wait(hint, u), &hint, nil
}

// vain says whether the failure is of an attempt that was woken, in a wait on
// the same budget whose window is still open.
func (d *decision) vain(i int) bool {
	return d.phase == waking && d.budget == int64(i) && d.budgets[i].open == 1
}

// callLeft is what is left of the call's own budget; without one, for ever.
func (d *decision) callLeft() int64 {
	if d.call.BudgetUS == 0 {
		return 1 << 62
	}
	return d.call.BudgetUS - d.elapsed
}

func (d *decision) repair(b *Branch) abi.Action {
	budget, s := &d.doc.Budgets[b.Retry], &d.budgets[b.Retry]
	switch {
	case budget.CallBudget == CallClamp && d.callLeft() <= 0:
		return d.exhausted(abi.ReasonCall, b.Retry)
	case s.count >= budget.Attempts:
		return d.exhausted(abi.ReasonAttempts, b.Retry)
	}
	d.repaired++
	action := d.next(b.Retry, 0)
	d.phase = mending
	if b.Repair.StopFail {
		d.phase = repairing
	}
	action.Repair, action.RepairForce = true, b.Repair.Force
	return action
}

// next is the retry after a delay, on budget i.
func (d *decision) next(i int, delay int64) abi.Action {
	budget, s := &d.doc.Budgets[i], &d.budgets[i]
	d.phase, d.pending, d.budget, d.left, d.withheld, d.wakeAfter = attempting, delay, int64(i), 0, 0, 0
	a := abi.Action{Type: abi.Retry, Kind: d.doc.kinds[d.kind], Budget: budget.Name, Attempt: d.attempts + 1, DelayUS: delay}
	if budget.MaxWait > 0 && s.open == 1 {
		left := budget.MaxWait - s.time
		if budget.CallBudget != CallIgnore {
			left = min(left, d.callLeft())
		}
		left = max(0, left)
		a.RemainingUS = &left
	}
	if w := budget.Wake; delay > 0 && d.believed(w, s) {
		d.wakeAfter = w.heldOff(s.vain)
		a.Wake = &abi.Wake{By: w.by(d.chosen), AfterUS: d.wakeAfter}
	}
	return a
}

// by is the least readiness that wakes the call, "" for none.
func (w *WakeRule) by(call *abi.Call) abi.Readiness {
	if call.Write {
		return w.Writes
	}
	return w.Reads
}

// heldOff is how long wakes are ignored after so many vain ones.
func (w *WakeRule) heldOff(vain int64) int64 {
	if vain == 0 {
		return 0
	}
	return mulDiv(w.HoldOff, 1<<min(vain-1, 32), 1)
}

// woken ends a wait early, if the policy agrees; else the wait goes on.
func (d *decision) woken() (abi.Action, error) {
	i := int(d.budget)
	budget, s := &d.doc.Budgets[i], &d.budgets[i]
	w, left := budget.Wake, max(0, d.pending-d.passed)
	held := max(0, d.wakeAfter-d.passed)
	if !d.believed(w, s) || held > 0 || !enough(d.event.By, w.by(d.chosen)) {
		withheld := sum(d.withheld, d.passed)
		action := d.waitOn(i, left, held)
		d.withheld = withheld
		return action, nil
	}
	u, err := d.chance(d.call, d.event)
	if err != nil {
		return abi.Action{}, err
	}
	// Downwards from the deadline: near it the spread shrinks, and no woken
	// attempt starts past it.
	room := max(0, budget.MaxWait-s.time)
	if budget.CallBudget == CallClamp {
		room = min(room, max(0, d.callLeft()))
	}
	// What the spread has grown by makes no attempt later than the schedule's.
	delay := max(scale(min(w.Spread, room), u), min(scale(min(budget.spread(s), room), u), left))
	action := d.next(i, delay)
	action.Wake, d.wakeAfter = nil, 0
	d.phase, d.left = waking, max(0, left-delay)
	return action, nil
}

func enough(is, need abi.Readiness) bool {
	return is == abi.Ready || is == need
}

// waitOn is a wait that goes on without an attempt between, held off for as long
// as the one before still was.
func (d *decision) waitOn(i int, delay, held int64) abi.Action {
	action := d.next(i, delay)
	d.wakeAfter = held
	if action.Wake != nil {
		action.Wake.AfterUS = held
	}
	return action
}

// leftOut answers a wait that is over while the host sees that the server is
// down, or not ready. An attempt would fail, so the schedule goes on
// without it; but a limit gets its last attempt, whatever the host sees.
func (d *decision) leftOut() (abi.Action, error) {
	i := int(d.budget)
	budget, s := &d.doc.Budgets[i], &d.budgets[i]
	held, left := max(0, d.wakeAfter-d.passed), budget.MaxWait-s.time
	withheld, room := int64(0), budget.Backoff.Cap // not_ready may leave attempts out for at most one cap
	if budget.CallBudget != CallIgnore {
		left = min(left, d.callLeft())
	}
	if d.event.Type == abi.NotReady {
		withheld = sum(d.withheld, d.passed)
		room = budget.Backoff.Cap - withheld
	}
	if !d.believed(budget.Wake, s) || min(left, room) <= 0 || s.step >= abi.MaxAttempts {
		return d.next(i, 0), nil
	}
	s.step++
	delay, _, err := d.backoff(&budget.Backoff, s.step)
	if err != nil {
		return abi.Action{}, err
	}
	delay = min(delay, room)
	if delay >= d.callLeft() && (budget.CallBudget == CallStopAbove || budget.CallBudget == CallStopAt) {
		return d.next(i, 0), nil // the schedule ends with this attempt
	}
	action := d.waitOn(i, min(delay, left), held)
	d.withheld = withheld
	return action, nil
}

// believed says whether what the host sees of the server counts.
func (d *decision) believed(w *WakeRule, s *spent) bool {
	return w != nil && s.vain < w.MaxVain && w.by(d.chosen) != ""
}
