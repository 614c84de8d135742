package policy

import "outlast/abi"

// stop ends the call with an outcome, and tells the rest of its story: while an
// attempt is in doubt, a write that is not ok is indeterminate.
func (d *decision) stop(o *abi.Outcome) abi.Action {
	o.Effects = abi.EffectsNone
	if d.doubt && o.Type != abi.OutcomeOK {
		o.Effects = abi.EffectsUnknown
		if o.Type != abi.OutcomeCancelled {
			o.Type = abi.OutcomeIndeterminate
		}
	}
	o.Attempts, o.ElapsedUS = d.attempts, d.elapsed
	failures := d.attempts
	if o.Type == abi.OutcomeOK {
		failures--
	}
	o.History = d.history(d.doc, failures)
	if failures > 0 {
		o.Kind = d.doc.kinds[d.kind]
	}
	if d.view != nil && o.Type != abi.OutcomeOK {
		o.LastError = d.view.errorText()
	}
	o.Message = d.message(o)
	return abi.Action{Type: abi.Stop, Kind: o.Kind, Budget: o.Budget, Outcome: o}
}

// gaveUp is the outcome of a retryable failure that is not retried.
func (d *decision) gaveUp(t abi.OutcomeType, reason string, budget int) *abi.Outcome {
	o := &abi.Outcome{Type: t, Reason: reason}
	if budget >= 0 {
		s := &d.budgets[budget]
		o.Budget = d.doc.Budgets[budget].Name
		o.BudgetAttempts, o.BudgetSpentUS = s.count, s.time
	}
	return o
}

func (d *decision) exhausted(reason string, budget int) abi.Action {
	return d.stop(d.gaveUp(abi.OutcomeExhausted, reason, budget))
}

// message says the outcome in a sentence. It never quotes the attempt.
func (d *decision) message(o *abi.Outcome) string {
	tries := count(o.Attempts, "attempt") + " over " + seconds(o.ElapsedUS)
	switch {
	case o.Type == abi.OutcomeOK:
		return "succeeded after " + tries
	case o.Type == abi.OutcomeCancelled:
		return "cancelled after " + tries + d.effectsText(o)
	case o.Type == abi.OutcomeExhausted:
		return "gave up after " + tries + ": " + d.limit(o)
	case o.Budget != "":
		return "gave up after " + tries + ": " + d.limit(o) + d.effectsText(o)
	}
	text := o.Kind + " after " + tries
	switch o.Reason {
	case abi.ReasonStreamed:
		text += ": not tried again, since " + d.spent()
	case abi.ReasonRepairFailed:
		text += ": the repair failed"
	}
	return text + d.effectsText(o)
}

// spent is why an attempt cannot be made a second time.
func (d *decision) spent() string {
	if d.view != nil && !d.view.result.IsProcess() {
		return "it cannot be repeated"
	}
	return "its output has been passed on"
}

// effectsText says of a write whether it may have been applied.
func (d *decision) effectsText(o *abi.Outcome) string {
	switch {
	case !d.call.Write:
		return ""
	case d.unproven:
		return "; the command may make several requests, so what it printed does not prove that nothing was applied: look before trying again"
	case o.Effects == abi.EffectsUnknown:
		return "; it may have been applied: look before trying again"
	}
	return "; nothing was applied"
}

// limit says which limit ended the call.
func (d *decision) limit(o *abi.Outcome) string {
	i := d.doc.budgetIndex(o.Budget)
	budget := &d.doc.Budgets[max(i, 0)]
	name := o.Kind + " "
	if o.Kind != o.Budget {
		name += "(budget " + o.Budget + ") "
	}
	switch o.Reason {
	case abi.ReasonCall:
		if o.RetryAfterUS != nil {
			return name + "and the server asked for " + seconds(*o.RetryAfterUS) + ", longer than the " +
				seconds(max(0, d.callLeft())) + " that are left of the call's own budget of " + seconds(d.call.BudgetUS)
		}
		return name + "when the call's own budget of " + seconds(d.call.BudgetUS) + " ended"
	case abi.ReasonWindow:
		return name + "for " + seconds(o.BudgetSpentUS) + "; its max_wait is " + formatDuration(budget.MaxWait)
	case abi.ReasonAttempts:
		return name + count(o.BudgetAttempts, "time") + ", all that it may be tried"
	case abi.ReasonWindows:
		return name + "again, after " + count(budget.Windows, "outage") + " in one call"
	case abi.ReasonBroken:
		return name + "again, after " + count(d.broken, "broken connection") + " in one call"
	case abi.ReasonRetryAfter:
		return name + "and the server asked for " + seconds(*o.RetryAfterUS) +
			", longer than the " + formatDuration(budget.RetryAfter.Max) + " that is waited for"
	}
	return name + "at the most attempts that a call may make"
}

func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return number(n) + " " + what
}

// seconds is a duration with at most one decimal.
func seconds(micros int64) string {
	const tenth = 100_000
	return decimalOf((micros+tenth/2)/tenth, 1) + " s"
}
