package abi

import "outlast/abi/strictjson"

// PolicyRef names the policy of a request: a built-in's name, a digest that
// the instance has met, or a whole document.
type PolicyRef struct {
	Name     string
	Document strictjson.Value // an Object where Name is ""
	Text     string           // the document's text, for the writer
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

func readPolicy(m *strictjson.Members) PolicyRef {
	v := m.Require("policy")
	switch v.Kind {
	case strictjson.String:
		return PolicyRef{Name: v.Text}
	case strictjson.Object:
		return PolicyRef{Document: v}
	case strictjson.Missing:
	default:
		m.Fault("policy", "expected a name or a document, not "+v.Kind.String())
	}
	return PolicyRef{}
}

func (p *PolicyRef) write(w *strictjson.Writer) {
	w.Name("policy")
	if p.Text != "" {
		w.Raw(p.Text)
	} else {
		w.String(p.Name)
	}
}

func readState(m *strictjson.Members) string {
	state := m.String("state")
	if len(state) > MaxStateBytes {
		m.Fault("state", "is longer than 1024 bytes")
	}
	return state
}

// DecodeDecide reads a decide request. Errors are of type *Error.
func DecodeDecide(text string) (DecideRequest, error) {
	if r := quickDecide(text); r != nil {
		return *r, nil
	}
	return strictDecide(text)
}

func strictDecide(text string) (DecideRequest, error) {
	var r DecideRequest
	err := decode(text, func(f *strictjson.Faults, v strictjson.Value) {
		m := f.Members(v, "")
		r.Policy = readPolicy(m)
		r.Call = readCall(f, m.Require("call"), "call")
		r.State = readState(m)
		r.Event = readEvent(f, m.Require("event"), "event")
		r.Explain = m.Bool("explain", false)
		m.End()
	})
	return r, err
}

// Encode is the request as JSON.
func (r *DecideRequest) Encode() []byte {
	var w strictjson.Writer
	w.Open('{')
	r.Policy.write(&w)
	w.Name("call")
	r.Call.write(&w)
	w.StringMember("state", r.State)
	w.Name("event")
	r.Event.write(&w)
	w.TrueMember("explain", r.Explain)
	w.Close('}')
	return w.Bytes
}

// DecodeRun reads a run request. Errors are of type *Error.
func DecodeRun(text string) (RunRequest, error) {
	var r RunRequest
	err := decode(text, func(f *strictjson.Faults, v strictjson.Value) {
		m := f.Members(v, "")
		r.Policy = readPolicy(m)
		r.Call = readCall(f, m.Require("call"), "call")
		r.State = readState(m)
		if first := m.Value("first"); first.Kind != strictjson.Missing {
			e := readEvent(f, first, "first")
			r.First = &e
		}
		m.End()
	})
	return r, err
}

// Encode is the request as JSON.
func (r *RunRequest) Encode() []byte {
	var w strictjson.Writer
	w.Open('{')
	r.Policy.write(&w)
	w.Name("call")
	r.Call.write(&w)
	w.StringMember("state", r.State)
	if r.First != nil {
		w.Name("first")
		r.First.write(&w)
	}
	w.Close('}')
	return w.Bytes
}
