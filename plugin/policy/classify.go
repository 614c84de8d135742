package policy

import (
	"cmp"
	"strings"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// recognise is the first rule that matches, and the condition that did (nil
// where the rule has none). The last rule matches everything.
func (d *Document) recognise(call *abi.Call, v *view) (*Rule, *Condition) {
	for i := range d.Rules {
		rule := &d.Rules[i]
		if len(rule.When) == 0 {
			return rule, nil
		}
		for j := range rule.When {
			if rule.When[j].holds(call, v) {
				return rule, &rule.When[j]
			}
		}
	}
	panic("policy: a document without a last rule was not refused")
}

func (c *Condition) holds(call *abi.Call, v *view) bool {
	r := v.result
	switch {
	case c.Transport == "process" && !r.IsProcess(), c.Transport == "http" && r.IsProcess(),
		len(c.ExitCodes) > 0 && (r.ExitCode == nil || !contains(c.ExitCodes, *r.ExitCode)),
		len(c.Signals) > 0 && !matchesSignal(c.Signals, r.Signal),
		len(c.Statuses) > 0 && !contains(c.Statuses, v.status),
		c.Form != "" && c.Form != v.form,
		len(c.Codes) > 0 && !c.hasCode(v),
		c.Details != nil && *c.Details != v.details,
		c.TimedOut && !r.TimedOut,
		!agrees(c.Write, call.Write),
		!c.Proof.holds(call, v),
		len(c.Sent) > 0 && !contains(c.Sent, v.sent),
		len(c.Failures) > 0 && !contains(c.Failures, cmp.Or(string(r.Failure), noFailure)),
		c.Only && !r.OnlyRequest,
		c.Hinted && (v.retryAfter == nil || *v.retryAfter < 0),
		c.Effects != "" && c.Effects != v.effects,
		c.CauseCount > 0 && c.CauseCount != int64(len(v.causes)):
		return false
	}
	for i := range c.Text {
		if !c.Text[i].holds(v) {
			return false
		}
	}
	return true
}

// hasCode says whether the object has one of the codes. "none" is that there is
// no code: of a name no server has.
func (c *Condition) hasCode(v *view) bool {
	if v.code == "" {
		return contains(c.Codes, "none")
	}
	return contains(c.Codes, v.code)
}

func contains[T comparable](list []T, x T) bool {
	for _, item := range list {
		if item == x {
			return true
		}
	}
	return false
}

func matchesSignal(list []string, signal string) bool {
	return signal != "" && (contains(list, signal) || contains(list, "any"))
}

// look is the texts in which a test looks. A cause that is not there has none.
func (t *TextTest) look(v *view) []string {
	switch t.In {
	case InAnywhere:
		return v.anywhere
	case InShown:
		return v.shown
	case InCause:
		if t.At < int64(len(v.causes)) {
			return v.causes[t.At : t.At+1]
		}
		return nil
	}
	return []string{v.message}
}

func (t *TextTest) holds(v *view) bool {
	texts := t.look(v)
	if len(texts) == 0 {
		return false
	}
	if len(t.Is)+len(t.Starts)+len(t.Any) > 0 && t.found(texts) == "" {
		return false
	}
	for _, m := range t.All {
		if !anyContains(texts, m.lower) {
			return false
		}
	}
	for _, m := range t.None {
		if anyContains(texts, m.lower) {
			return false
		}
	}
	return true
}

// found is the first of Is, Starts and Any that holds, "" if none does.
func (t *TextTest) found(texts []string) string {
	for _, m := range t.Is {
		if texts[0] == m.lower {
			return m.Text
		}
	}
	for _, m := range t.Starts {
		if strings.HasPrefix(texts[0], m.lower) {
			return m.Text
		}
	}
	for _, m := range t.Any {
		if anyContains(texts, m.lower) {
			return m.Text
		}
	}
	return ""
}

func anyContains(texts []string, word string) bool {
	for _, text := range texts {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// branch is the first of the rule's branches that holds for the call.
func (r *Rule) branch(call *abi.Call, repaired bool) *Branch {
	for i := range r.Then {
		b := &r.Then[i]
		if b.If.holds(call) && !(b.Repair != nil && b.Repair.Once && repaired) {
			return b
		}
	}
	panic("policy: a rule without a last branch was not refused")
}

func (i *If) holds(call *abi.Call) bool {
	return agrees(i.Remote, call.Remote) && agrees(i.Write, call.Write) &&
		agrees(i.SurfaceConflict, call.SurfaceConflict) && agrees(i.ConnectRetry, call.ConnectRetry) &&
		agrees(i.RefusesBeforeActing, call.RefusesBeforeActing)
}

func agrees(want *bool, is bool) bool {
	return want == nil || *want == is
}

// why tells what made the condition hold; c is nil where the rule has none.
func (c *Condition) why(rule *Rule, v *view) *abi.Why {
	why := &abi.Why{Rule: rule.Kind}
	if c == nil {
		return why
	}
	add := func(in, text string) { why.Matched = append(why.Matched, abi.Matched{In: in, Text: text}) }
	if len(c.ExitCodes) > 0 {
		add("exit code", number(*v.result.ExitCode))
	}
	if len(c.Signals) > 0 {
		add("signal", v.result.Signal)
	}
	if len(c.Statuses) > 0 && v.status != 0 {
		add("HTTP status", number(v.status))
	}
	if len(c.Codes) > 0 && v.code != "" {
		add("code", v.code)
	}
	if c.TimedOut {
		add("attempt", "timed out")
	}
	if c.Effects != "" {
		add("effects", string(c.Effects))
	}
	if len(c.Sent) > 0 {
		add("sent", string(v.sent))
	}
	if len(c.Failures) > 0 {
		add("failure", cmp.Or(string(v.result.Failure), noFailure))
	}
	if c.Only {
		add("attempt", "made one request")
	}
	if c.Hinted {
		add("Retry-After", number(*v.retryAfter)+" us")
	}
	for i := range c.Text {
		c.Text[i].why(v, add)
	}
	return why
}

func (t *TextTest) why(v *view, add func(in, text string)) {
	in := string(t.In)
	if t.In == InCause {
		in += " " + number(t.At)
	}
	if word := t.found(t.look(v)); word != "" {
		add(in, word)
	}
	for _, m := range t.All {
		add(in, m.Text)
	}
}

func number(n int64) string {
	return string(strictjson.AppendInt(nil, n))
}
