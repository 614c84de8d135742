package policy

import (
	"outlast/abi"
	"outlast/abi/strictjson"
)

func (r *reader) rules(doc *Document, m *strictjson.Members) {
	m.Require("rules")
	items := m.Array("rules")
	if len(items) == 0 || len(items) > maxRules {
		r.Add("rules", "expected from 1 to 200 rules")
		return
	}
	for i, item := range items {
		rule := r.rule(doc, item, strictjson.Index("rules", i))
		rule.kind = doc.kindIndex(rule.Kind)
		doc.Rules = append(doc.Rules, rule)
	}
	if last := doc.Rules[len(doc.Rules)-1]; len(last.When) > 0 {
		r.Add(strictjson.Index("rules", len(items)-1)+".when", "the last rule must match everything: leave it out")
	}
}

// kindIndex is the number of a kind, which is new or known.
func (d *Document) kindIndex(kind string) int {
	for i, k := range d.kinds {
		if k == kind {
			return i
		}
	}
	d.kinds = append(d.kinds, kind)
	return len(d.kinds) - 1
}

func (r *reader) rule(doc *Document, v strictjson.Value, path string) Rule {
	m := r.Members(v, path)
	rule := Rule{
		Kind:   m.String("kind"),
		Server: Contact(m.OneOf("server", string(Unseen), string(Answered), string(Broken))),
	}
	if !validName(rule.Kind) {
		m.Fault("kind", "expected a name of letters, digits, - and _, not "+strictjson.Quote(rule.Kind))
	}
	when := m.Value("when")
	if when.Kind != strictjson.Missing && (when.Kind != strictjson.Array || len(when.Items) == 0) {
		m.Fault("when", "expected an array of at least one condition")
		when.Items = nil
	}
	for i, item := range when.Items {
		rule.When = append(rule.When, r.condition(doc, item, strictjson.Index(m.Path("when"), i)))
	}
	rule.Then = r.branches(doc, m)
	m.End()
	return rule
}

func (r *reader) condition(doc *Document, v strictjson.Value, path string) Condition {
	m := r.Members(v, path)
	if v.Kind == strictjson.Object && len(v.Names) == 0 {
		r.Add(path, "an empty condition would match everything")
	}
	c := Condition{
		Transport: m.OneOf("transport", "", "process", "http"),
		ExitCodes: r.integers(m, "exit_codes"),
		Signals:   r.words(m, "signals"),
		Statuses:  r.integers(m, "http_statuses"),
		Form:      Form(m.OneOf("form", "", string(FormReport), string(FormLines), string(FormObject))),
		Codes:     r.words(m, "codes"),
		Details:   optionalBool(m, "details"),
		TimedOut:  m.Bool("timed_out", false),
		Write:     optionalBool(m, "write"),
		Effects:   abi.Effects(m.OneOf("effects", "", string(abi.EffectsNone), string(abi.EffectsUnknown))),
	}
	c.Proof = Proof(m.OneOf("proof", "", string(ProofRefused), string(ProofExit)))
	if m.Has("timed_out") && !c.TimedOut {
		m.Fault("timed_out", "can only be true")
	}
	switch {
	case c.Proof == "":
	case !doc.Account:
		m.Fault("proof", `needs a document with "account": "command_outcome"`)
	case c.Proof == ProofRefused && len(c.Statuses) == 0:
		m.Fault("proof", "a refusal is known by its http_statuses")
	case c.Proof == ProofExit && len(c.ExitCodes) == 0:
		m.Fault("proof", "needs exit_codes")
	}
	for _, sent := range r.words(m, "sent") {
		switch s := abi.Sent(sent); s {
		case abi.SentNo, abi.SentUnknown, abi.SentYes:
			c.Sent = append(c.Sent, s)
		default:
			m.Fault("sent", `expected "no", "unknown" or "yes", not `+strictjson.Quote(sent))
		}
	}
	c.CauseCount, _ = m.Int("cause_count", 1, 1000)
	for i, item := range m.Array("text") {
		c.Text = append(c.Text, r.textTest(item, strictjson.Index(m.Path("text"), i)))
	}
	if m.Has("text") && len(c.Text) == 0 {
		m.Fault("text", "expected at least one test")
	}
	m.End()
	return c
}

func (r *reader) textTest(v strictjson.Value, path string) TextTest {
	m := r.Members(v, path)
	m.Require("in")
	t := TextTest{
		In:     Place(m.OneOf("in", string(InMessage), string(InCause), string(InAnywhere), string(InShown))),
		Is:     r.markers(m, "is"),
		Starts: r.markers(m, "starts"),
		Any:    r.markers(m, "any"),
		All:    r.markers(m, "all"),
		None:   r.markers(m, "none"),
	}
	if t.In == InCause {
		m.Require("at")
		t.At, _ = m.Int("at", 0, 1000)
	}
	if !m.Has("is") && !m.Has("starts") && !m.Has("any") && !m.Has("all") && !m.Has("none") {
		r.Add(path, "expected one of is, starts, any, all and none")
	}
	if (t.In == InAnywhere || t.In == InShown) && (len(t.Is) > 0 || len(t.Starts) > 0) {
		r.Add(path, "is and starts need a place: message or cause")
	}
	m.End()
	return t
}

// markers are words to compare with, lowered once here.
func (r *reader) markers(m *strictjson.Members, name string) []Marker {
	var out []Marker
	for _, word := range r.words(m, name) {
		out = append(out, Marker{word, lower(word)})
	}
	return out
}

func (r *reader) words(m *strictjson.Members, name string) []string {
	items := m.Array(name)
	if m.Has(name) && (len(items) == 0 || len(items) > maxWords) {
		m.Fault(name, "expected from 1 to 200 strings")
	}
	var out []string
	for i, item := range items {
		if item.Kind != strictjson.String || item.Text == "" || len(item.Text) > maxWord {
			r.Add(strictjson.Index(m.Path(name), i), "expected a string of 1 to 1000 bytes, not "+show(item))
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

func (r *reader) integers(m *strictjson.Members, name string) []int64 {
	items := m.Array(name)
	if m.Has(name) && len(items) == 0 {
		m.Fault(name, "expected at least one number")
	}
	var out []int64
	for i, item := range items {
		n, ok := int64(0), false
		if item.Kind == strictjson.Number {
			n, ok = strictjson.Integer(item.Text)
		}
		if !ok || n < 0 || n > 65535 {
			r.Add(strictjson.Index(m.Path(name), i), "expected a whole number from 0 to 65535, not "+show(item))
			continue
		}
		out = append(out, n)
	}
	return out
}

func optionalBool(m *strictjson.Members, name string) *bool {
	if !m.Has(name) {
		return nil
	}
	v := m.Bool(name, false)
	return &v
}

func (r *reader) branches(doc *Document, m *strictjson.Members) []Branch {
	m.Require("then")
	items := m.Array("then")
	var out []Branch
	for i, item := range items {
		path := strictjson.Index(m.Path("then"), i)
		b := r.branch(doc, item, path)
		out = append(out, b)
		if last := i == len(items)-1; last && (b.If != If{} || b.Repair != nil && b.Repair.Once) {
			r.Add(path, "the last branch must hold for every call: no if, no repair once")
		}
	}
	if len(items) == 0 {
		m.Fault("then", "expected at least one branch")
	}
	return out
}

func (r *reader) branch(doc *Document, v strictjson.Value, path string) Branch {
	m := r.Members(v, path)
	b := Branch{Retry: -1}
	if cond := m.Value("if"); cond.Kind != strictjson.Missing {
		im := r.Members(cond, m.Path("if"))
		b.If = If{
			Remote:          optionalBool(im, "remote"),
			Write:           optionalBool(im, "write"),
			SurfaceConflict: optionalBool(im, "surface_conflict"),
			ConnectRetry:    optionalBool(im, "connect_retry"),
		}
		im.End()
	}
	if m.Has("retry") == m.Has("stop") {
		r.Add(path, "expected either retry or stop")
	}
	if m.Has("retry") {
		name := m.String("retry")
		if b.Retry = doc.budgetIndex(name); b.Retry < 0 {
			m.Fault("retry", "there is no budget called "+strictjson.Quote(name))
		}
	}
	if repair := m.Value("repair"); repair.Kind != strictjson.Missing {
		b.Repair = r.repair(doc, b.Retry, repair, m.Path("repair"))
	}
	if stop := m.Value("stop"); stop.Kind != strictjson.Missing {
		b.Stop = r.stop(stop, m.Path("stop"))
	}
	m.End()
	return b
}

func (d *Document) budgetIndex(name string) int {
	for i := range d.Budgets {
		if d.Budgets[i].Name == name {
			return i
		}
	}
	return -1
}

func (r *reader) repair(doc *Document, budget int, v strictjson.Value, path string) *RepairRule {
	m := r.Members(v, path)
	m.Require("times")
	m.Require("on_failure")
	rule := &RepairRule{
		Once:     m.OneOf("times", "once", "each") == "once",
		Force:    m.Bool("force", false),
		StopFail: m.OneOf("on_failure", "stop", "continue") == "stop",
	}
	if budget < 0 || doc.Budgets[budget].MaxWait > 0 {
		r.Add(path, "needs a retry on a budget of attempts, which bounds the repairs")
	}
	m.End()
	return rule
}

func (r *reader) stop(v strictjson.Value, path string) *StopRule {
	m := r.Members(v, path)
	m.Require("effects")
	s := &StopRule{
		Effects: abi.Effects(m.OneOf("effects", string(abi.EffectsNone), string(abi.EffectsUnknown))),
		Outcome: abi.OutcomeType(m.OneOf("outcome", "", string(abi.OutcomeFailed), string(abi.OutcomeConflict),
			string(abi.OutcomePreconditionFailed), string(abi.OutcomeCancelled))),
		Remedy: m.String("remedy"),
	}
	if s.Effects == abi.EffectsUnknown && s.Outcome != "" && s.Outcome != abi.OutcomeCancelled {
		m.Fault("outcome", "unknown effects are the outcome indeterminate")
	}
	m.End()
	return s
}
