package abi

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// PolicyRef names the policy of a request: a built-in's name, a digest that
// the instance has met, or a whole document.
type PolicyRef struct {
	Name     string
	Document string // its text, JSON, where there is no name
}

// DecideRequest is the input of decide.
type DecideRequest struct {
	Policy  PolicyRef
	Call    Call
	State   string // "" before the first event
	Event   Event
	Explain bool // asks for Why
}

// RunRequest is the input of run.
type RunRequest struct {
	Policy PolicyRef
	Call   Call
	State  string // of a run that is continued; then First follows on it
	First  *Event // an attempt that was made before; nil: run makes the next one at once
}

// Fields implements fields.Message.
func (r *DecideRequest) Fields(f *fields.List) {
	f.Add("policy", (*policyForm)(&r.Policy)).Required().Says("a built-in policy's name, a digest, or a [document](#the-policy-document). An instance keeps the documents that it has met, at least the last one, and knows them by their digest")
	f.Message("call", &r.Call).Required()
	f.String("state", &r.State, MaxStateBytes).Says("of the answer before; left out with the first event")
	f.Message("event", &r.Event).Required()
	f.Flag("explain", &r.Explain).Says("asks for `why`; false unless given")
}

// Fields implements fields.Message.
func (r *RunRequest) Fields(f *fields.List) {
	f.Add("policy", (*policyForm)(&r.Policy)).Required().Says("as above")
	f.Message("call", &r.Call).Required()
	f.String("state", &r.State, MaxStateBytes).Says("of a run that is [taken up again](#losing-an-instance-and-going-on)")
	fields.Optional(f, "first", &r.First).Says("what has happened already: an attempt that was made before the plugin was loaded, or the event after which an instance was lost. Without it `run` makes the next attempt at once")
}

// policyForm is the form of a policy's name, or of its document.
type policyForm PolicyRef

func (p *policyForm) Read(r *fields.Reader) {
	switch is := r.In.Kind(); is {
	case strictjson.String:
		p.Name = r.In.String()
	case strictjson.Object:
		p.Document = r.In.Skip()
	default:
		r.In.Skip()
		r.Fault("expected a name or a document, not " + is.String())
	}
}

func (p *policyForm) Write(w *fields.Writer) {
	if p.Document != "" {
		w.Raw(p.Document)
	} else {
		w.String(p.Name)
	}
}

func (p *policyForm) IsDefault() bool          { return false }
func (p *policyForm) Clear()                   {}
func (p *policyForm) Describe(a *fields.About) { a.Kind = "policy" }

// DecodeDecide reads a decide request. Errors are of type *Error.
func DecodeDecide(text string) (DecideRequest, error) {
	var r DecideRequest
	err := decode(text, &r)
	return r, err
}

// Encode is the request as JSON.
func (r *DecideRequest) Encode() []byte { return fields.Write(r) }

// DecodeRun reads a run request. Errors are of type *Error.
func DecodeRun(text string) (RunRequest, error) {
	var r RunRequest
	err := decode(text, &r)
	return r, err
}

// Encode is the request as JSON.
func (r *RunRequest) Encode() []byte { return fields.Write(r) }
