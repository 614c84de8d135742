package abi

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// Decision is decide's answer.
type Decision struct {
	Action Action
	State  string // to be given back with the next event; "" with a stop
}

// Fields implements fields.Message.
func (d *Decision) Fields(f *fields.List) {
	f.Message("action", &d.Action).Required()
	f.String("state", &d.State, 0).Says("to be given back with the next event; missing with a stop")
}

// EncodeDecision is decide's answer.
func EncodeDecision(action *Action, state string) []byte {
	return answer(&Decision{*action, state})
}

// DecodeDecision reads decide's answer.
func DecodeDecision(text string) (Action, string, error) {
	var d Decision
	err := open(text, &d)
	return d.Action, d.State, err
}

// DecodeAction reads an action, as a host function gets it from run.
func DecodeAction(text string) (Action, error) {
	var a Action
	faults, err := readOpen(text, &a)
	if err != nil {
		return Action{}, err
	}
	return a, malformed(faults)
}

// RunAnswer is run's answer: an outcome, or, after MaxRunAttempts, what to call
// run with again.
type RunAnswer struct {
	Outcome  *Outcome
	Continue *Continue
}

// Continue is what a run goes on with.
type Continue struct {
	State string
	First Event
}

// Fields implements fields.Message.
func (r *RunAnswer) Fields(f *fields.List) {
	fields.Optional(f, "outcome", &r.Outcome).Says("the call has ended")
	fields.Optional(f, "continue", &r.Continue).Says("500 attempts and repairs have been made: call `run` again with the same `policy` and `call` and these two members")
}

// Check implements fields.Checker.
func (r *RunAnswer) Check(c *fields.Checked) {
	if r.Outcome == nil && r.Continue == nil {
		c.Fault("outcome", "is missing")
	}
}

// Fields implements fields.Message.
func (c *Continue) Fields(f *fields.List) {
	f.String("state", &c.State, 0)
	f.Message("first", &c.First).Required().Says("the last event, as the host gave it, not yet answered")
}

// Encode is the answer in its envelope.
func (r *RunAnswer) Encode() []byte { return answer(r) }

// DecodeRunAnswer reads run's answer.
func DecodeRunAnswer(text string) (RunAnswer, error) {
	var r RunAnswer
	err := open(text, &r)
	return r, err
}

// Description is what describe answers.
type Description struct {
	ABI      Version
	Version  string // of the plugin
	Build    string // the toolchain that built it
	Policies []BuiltIn
}

// Version is one of the contract.
type Version struct{ Major, Minor, Patch int64 }

// BuiltIn is a policy that the plugin carries.
type BuiltIn struct {
	Name   string
	Digest string
}

// Fields implements fields.Message.
func (d *Description) Fields(f *fields.List) {
	f.Message("abi", &d.ABI).Required().Says("the contract's version: `major`, `minor`, `patch`, all integers")
	f.String("version", &d.Version, 0).Says("the release of outlast that it is part of")
	f.String("build", &d.Build, 0).Says("the toolchain that built it")
	fields.Items(f, "policies", &d.Policies).Always(true).Says("the built-in policies: the one for omnigraph's command first")
}

// Fields implements fields.Message.
func (v *Version) Fields(f *fields.List) {
	f.Int("major", &v.Major, 0, fields.Most).Required()
	f.Int("minor", &v.Minor, 0, fields.Most).Required()
	f.Int("patch", &v.Patch, 0, fields.Most).Required()
}

// Fields implements fields.Message.
func (b *BuiltIn) Fields(f *fields.List) {
	f.String("name", &b.Name, 0)
	f.String("digest", &b.Digest, 0)
}

// Encode is the description in its envelope.
func (d *Description) Encode() []byte { return answer(d) }

// DecodeDescription reads describe's answer.
func DecodeDescription(text string) (Description, error) {
	var d Description
	err := open(text, &d)
	return d, err
}

// Checked is check's answer.
type Checked struct {
	Policy string // the normalised document, as JSON
	Digest string
}

// Fields implements fields.Message.
func (c *Checked) Fields(f *fields.List) {
	f.Add("policy", (*raw)(&c.Policy)).Says("the normal form: every default filled in, every duration and fraction in one spelling, members in one order")
	f.String("digest", &c.Digest, 0).Says("FNV-1a of 128 bits over the normal form's text. It tells documents apart; it is no protection against forgery")
}

// raw is the form of an object that is kept as its text.
type raw string

func (o *raw) Read(r *fields.Reader) {
	if r.Expect(strictjson.Object) {
		*o = raw(r.In.Skip())
	}
}

func (o *raw) Write(w *fields.Writer)   { w.Raw(string(*o)) }
func (o *raw) IsDefault() bool          { return *o == "" }
func (o *raw) Clear()                   { *o = "" }
func (o *raw) Describe(a *fields.About) { a.Kind = "document" }

// EncodeChecked is check's answer.
func EncodeChecked(document, digest string) []byte { return answer(&Checked{document, digest}) }
