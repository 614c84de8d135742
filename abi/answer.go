package abi

import "outlast/abi/strictjson"

// The readers in this file are for hosts. They ignore unknown fields, so that
// a newer plugin of the same major version can add some.

// openAnswer parses an envelope and gives its ok member.
// The error of an envelope, and every other, is an *Error.
func openAnswer(text string) (*strictjson.Faults, *strictjson.Members, error) {
	v, err := strictjson.Parse(text, strictjson.Limits{Bytes: MaxRequestBytes, Depth: 2 * MaxDepth})
	if err != nil {
		return nil, nil, &Error{Code: CodeInternal, Message: "the plugin's answer is not JSON: " + err.Error()}
	}
	f := &strictjson.Faults{}
	m := f.Members(v, "")
	if n, ok := m.Int("v", 0, strictjson.MaxInteger); !ok || n != Major {
		return nil, nil, &Error{Code: CodeInternal, Message: "the plugin's answer has another version", Field: "v"}
	}
	if e := m.Value("error"); e.Kind == strictjson.Object {
		return nil, nil, readError(f, e)
	}
	return f, f.Members(m.Require("ok"), "ok"), nil
}

func readError(f *strictjson.Faults, v strictjson.Value) *Error {
	m := f.Members(v, "error")
	e := &Error{Code: m.String("code"), Message: m.String("message"), Field: m.String("field")}
	for _, item := range m.Array("faults") {
		fault := f.Members(item, "error.faults")
		e.Faults = append(e.Faults, strictjson.Fault{Field: fault.String("field"), Message: fault.String("message")})
	}
	return e
}

func answerErr(f *strictjson.Faults) error {
	if len(f.List) == 0 {
		return nil
	}
	return &Error{Code: CodeInternal, Message: "the plugin's answer is malformed: " + f.List[0].Message, Field: f.List[0].Field}
}

// DecodeDecision reads decide's answer.
func DecodeDecision(text string) (Action, string, error) {
	f, m, err := openAnswer(text)
	if err != nil {
		return Action{}, "", err
	}
	a := readAction(f, m.Require("action"), "ok.action")
	return a, m.String("state"), answerErr(f)
}

// DecodeAction reads an action, as a host function gets it from run.
func DecodeAction(text string) (Action, error) {
	v, err := strictjson.Parse(text, strictjson.Limits{Bytes: MaxRequestBytes, Depth: 2 * MaxDepth})
	if err != nil {
		return Action{}, err
	}
	var f strictjson.Faults
	a := readAction(&f, v, "")
	return a, answerErr(&f)
}

// DecodeRunAnswer reads run's answer.
func DecodeRunAnswer(text string) (RunAnswer, error) {
	f, m, err := openAnswer(text)
	if err != nil {
		return RunAnswer{}, err
	}
	if next := m.Value("continue"); next.Kind == strictjson.Object {
		c := f.Members(next, "ok.continue")
		first := readEvent(f, c.Require("first"), "ok.continue.first")
		return RunAnswer{State: c.String("state"), First: &first}, answerErr(f)
	}
	outcome := readOutcome(f, m.Require("outcome"), "ok.outcome")
	return RunAnswer{Outcome: &outcome}, answerErr(f)
}

// DecodeDescription reads describe's answer.
func DecodeDescription(text string) (Description, error) {
	f, m, err := openAnswer(text)
	if err != nil {
		return Description{}, err
	}
	d := Description{Version: m.String("version"), Build: m.String("build")}
	v := f.Members(m.Value("abi"), "ok.abi")
	for name, to := range map[string]*int64{"major": &d.ABI.Major, "minor": &d.ABI.Minor, "patch": &d.ABI.Patch} {
		*to, _ = v.Int(name, 0, strictjson.MaxInteger)
	}
	for _, item := range m.Array("policies") {
		p := f.Members(item, "ok.policies")
		d.Policies = append(d.Policies, BuiltIn{Name: p.String("name"), Digest: p.String("digest")})
	}
	return d, answerErr(f)
}

func readAction(f *strictjson.Faults, v strictjson.Value, path string) Action {
	m := f.Members(v, path)
	a := Action{
		Type:        ActionType(m.String("type")),
		Kind:        m.String("kind"),
		Budget:      m.String("budget"),
		RemainingUS: optionalInt(m, "remaining_us", 0),
		Repair:      m.Bool("repair", false),
		RepairForce: m.Bool("repair_force", false),
		State:       m.String("state"),
	}
	a.Attempt, _ = m.Int("attempt", 0, strictjson.MaxInteger)
	a.DelayUS, _ = m.Int("delay_us", 0, strictjson.MaxInteger)
	if wake := m.Value("wake"); wake.Kind == strictjson.Object {
		w := f.Members(wake, m.Path("wake"))
		a.Wake = &Wake{By: Readiness(w.String("by"))}
		a.Wake.AfterUS, _ = w.Int("after_us", 0, strictjson.MaxInteger)
	}
	if why := m.Value("why"); why.Kind == strictjson.Object {
		w := f.Members(why, m.Path("why"))
		a.Why = &Why{Rule: w.String("rule")}
		for _, item := range w.Array("matched") {
			t := f.Members(item, m.Path("why.matched"))
			a.Why.Matched = append(a.Why.Matched, Matched{In: t.String("in"), Text: t.String("text")})
		}
	}
	if outcome := m.Value("outcome"); outcome.Kind == strictjson.Object {
		o := readOutcome(f, outcome, m.Path("outcome"))
		a.Outcome = &o
	}
	return a
}

func readOutcome(f *strictjson.Faults, v strictjson.Value, path string) Outcome {
	m := f.Members(v, path)
	o := Outcome{
		Type:         OutcomeType(m.String("type")),
		Kind:         m.String("kind"),
		Effects:      Effects(m.String("effects")),
		Reason:       m.String("reason"),
		Budget:       m.String("budget"),
		RetryAfterUS: optionalInt(m, "retry_after_us", 0),
		Message:      m.String("message"),
		Remedy:       m.String("remedy"),
		LastError:    m.String("last_error"),
	}
	o.BudgetAttempts, _ = m.Int("budget_attempts", 0, strictjson.MaxInteger)
	o.BudgetSpentUS, _ = m.Int("budget_spent_us", 0, strictjson.MaxInteger)
	o.Attempts, _ = m.Int("attempts", 0, strictjson.MaxInteger)
	o.ElapsedUS, _ = m.Int("elapsed_us", 0, strictjson.MaxInteger)
	for _, item := range m.Array("history") {
		h := f.Members(item, m.Path("history"))
		entry := HistoryEntry{Kind: h.String("kind")}
		entry.Attempt, _ = h.Int("attempt", 0, strictjson.MaxInteger)
		entry.AtUS, _ = h.Int("at_us", 0, strictjson.MaxInteger)
		o.History = append(o.History, entry)
	}
	return o
}
