package abi

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

var codes = []string{"", CodeBadRequest, CodeInvalidPolicy, CodeUnknownPolicy, CodeBadState, CodeHostFailed, CodeInternal}

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

// Fields implements fields.Message.
func (e *Error) Fields(f *fields.List) {
	f.Word("code", &e.Code, codes).Required().Says("for programs; see below")
	f.String("message", &e.Message, 0).Required().Says("for people; it may change")
	f.String("field", &e.Field, 0).Says("the path of what is at fault, such as `event.result.exit_code` or `policy.rules[2].kind`; the host function, for `host_failed`; missing where it is the whole")
	f.Add("faults", (*faults)(&e.Faults)).Says("of `invalid_policy`: every fault, each with a `field` (empty for the whole) and a `message`; the first is the error's own")
}

// fault is a strictjson.Fault as a message.
type fault strictjson.Fault

// Fields implements fields.Message.
func (t *fault) Fields(f *fields.List) {
	f.String("field", &t.Field, 0).Required()
	f.String("message", &t.Message, 0).Required()
}

// faults is the form of a list of them.
type faults []strictjson.Fault

func (l *faults) Read(r *fields.Reader) {
	r.Each(0, func(int) {
		var one fault
		r.Message(&one)
		*l = append(*l, strictjson.Fault(one))
	})
}

func (l *faults) Write(w *fields.Writer) {
	w.Open('[')
	for i := range *l {
		w.Message((*fault)(&(*l)[i]))
	}
	w.Close(']')
}

func (l *faults) IsDefault() bool          { return len(*l) == 0 }
func (l *faults) Clear()                   { *l = nil }
func (l *faults) Describe(a *fields.About) { a.Kind, a.Of = "array", &fault{} }

// Envelope is what is around every answer: OK or Error.
type Envelope struct {
	V     int64
	OK    fields.Message
	Error *Error
}

// Fields implements fields.Message.
func (e *Envelope) Fields(f *fields.List) {
	f.Int("v", &e.V, 0, fields.Most).Required().Says("the contract's major version")
	if e.OK != nil {
		f.Message("ok", e.OK)
	}
	fields.Optional(f, "error", &e.Error)
}

// Check implements fields.Checker.
func (e *Envelope) Check(c *fields.Checked) {
	if e.Error == nil && !c.Has("ok") {
		c.Fault("ok", "is missing")
	}
}

// EncodeError is an envelope around err. One that is no *Error is internal.
func EncodeError(err error) []byte {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	return fields.Write(&Envelope{V: Major, Error: e})
}

// answer is an envelope around what went well.
func answer(m fields.Message) []byte { return fields.Write(&Envelope{V: Major, OK: m}) }

// open reads an answer. Hosts ignore unknown members, so that a newer plugin of
// the same major version can add some. The error of an envelope, and every
// other, is an *Error.
func open(text string, ok fields.Message) error {
	e := Envelope{OK: ok}
	faults, err := readOpen(text, &e)
	switch {
	case err != nil:
		return &Error{Code: CodeInternal, Message: "the plugin's answer is not JSON: " + err.Error()}
	case e.V != Major:
		return &Error{Code: CodeInternal, Message: "the plugin's answer has another version", Field: "v"}
	case e.Error != nil:
		return e.Error
	}
	return malformed(faults)
}

func readOpen(text string, m fields.Message) ([]strictjson.Fault, error) {
	return fields.Read(text, strictjson.Limits{Bytes: MaxRequestBytes, Depth: 2 * MaxDepth}, fields.Open, m)
}

func malformed(faults []strictjson.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &Error{Code: CodeInternal, Message: "the plugin's answer is malformed: " + faults[0].Message, Field: faults[0].Field}
}
