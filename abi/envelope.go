package abi

import "outlast/abi/strictjson"

// Error is the error of an envelope.
type Error struct {
	Code    string
	Message string
	Field   string             // of the request or document, "" if there is none
	Faults  []strictjson.Fault // of an invalid policy: all of them
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Code + ": " + e.Message
	}
	return e.Code + ": " + e.Field + ": " + e.Message
}

// EncodeError is an envelope around err. One that is no *Error is internal.
func EncodeError(err error) []byte {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	var w strictjson.Writer
	openEnvelope(&w, "error")
	w.Open('{')
	w.StringMember("code", e.Code)
	w.StringMember("message", e.Message)
	w.StringMember("field", e.Field)
	if len(e.Faults) > 0 {
		w.Name("faults")
		w.Open('[')
		for _, fault := range e.Faults {
			w.Open('{')
			w.Name("field")
			w.String(fault.Field)
			w.StringMember("message", fault.Message)
			w.Close('}')
		}
		w.Close(']')
	}
	w.Close('}')
	w.Close('}')
	return w.Bytes
}

func openEnvelope(w *strictjson.Writer, member string) {
	w.Open('{')
	w.Name("v")
	w.Int(Major)
	w.Name(member)
}

// EncodeDecision is decide's answer.
func EncodeDecision(action *Action, state string) []byte {
	var w strictjson.Writer
	openEnvelope(&w, "ok")
	w.Open('{')
	w.Name("action")
	action.write(&w)
	w.StringMember("state", state)
	w.Close('}')
	w.Close('}')
	return w.Bytes
}

// RunAnswer is run's answer: an outcome, or, after MaxRunAttempts, what to call
// run with again.
type RunAnswer struct {
	Outcome *Outcome
	State   string
	First   *Event // with State: to be continued
}

// Encode is the answer in its envelope.
func (r *RunAnswer) Encode() []byte {
	var w strictjson.Writer
	openEnvelope(&w, "ok")
	w.Open('{')
	if r.Outcome != nil {
		w.Name("outcome")
		r.Outcome.write(&w)
	} else {
		w.Name("continue")
		w.Open('{')
		w.StringMember("state", r.State)
		w.Name("first")
		r.First.write(&w)
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
	return w.Bytes
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

// Encode is the description in its envelope.
func (d *Description) Encode() []byte {
	var w strictjson.Writer
	openEnvelope(&w, "ok")
	w.Open('{')
	w.Name("abi")
	w.Open('{')
	w.Name("major")
	w.Int(d.ABI.Major)
	w.Name("minor")
	w.Int(d.ABI.Minor)
	w.Name("patch")
	w.Int(d.ABI.Patch)
	w.Close('}')
	w.StringMember("version", d.Version)
	w.StringMember("build", d.Build)
	w.Name("policies")
	w.Open('[')
	for _, p := range d.Policies {
		w.Open('{')
		w.StringMember("name", p.Name)
		w.StringMember("digest", p.Digest)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	w.Close('}')
	return w.Bytes
}

// EncodeChecked is check's answer: the normalised document and its digest.
func EncodeChecked(document, digest string) []byte {
	var w strictjson.Writer
	openEnvelope(&w, "ok")
	w.Open('{')
	w.Name("policy")
	w.Raw(document)
	w.StringMember("digest", digest)
	w.Close('}')
	w.Close('}')
	return w.Bytes
}
