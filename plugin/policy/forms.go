package policy

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// notKnown is said of a member that does not belong beside another.
const notKnown = "is not a known field"

// nameForm is the form of a name: of a document, a kind or a budget.
type nameForm string

// aName says what a name is.
const aName = "expected a name of letters, digits, - and _"

func (n *nameForm) Read(r *fields.Reader) {
	if !r.Expect(strictjson.String) {
		return
	}
	is := r.In.String()
	if *n = nameForm(is); !validName(is) {
		r.Fault(aName + ", not " + strictjson.Quote(is))
	}
}

func (n *nameForm) Write(w *fields.Writer)   { w.String(string(*n)) }
func (n *nameForm) IsDefault() bool          { return *n == "" }
func (n *nameForm) Clear()                   { *n = "" }
func (n *nameForm) Describe(a *fields.About) { a.Kind = "name" }

func validName(s string) bool {
	for _, c := range []byte(s) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// durationForm is the form of a positive duration; 0 is a missing one.
type durationForm int64

func (d *durationForm) Read(r *fields.Reader) {
	v := r.In.Value()
	micros, ok := int64(0), false
	if v.Kind == strictjson.String {
		micros, ok = parseDuration(v.Text)
	}
	if !ok || micros == 0 {
		r.Fault(`expected a positive duration with a unit, such as "150s" or "500ms", not ` + show(v))
		return
	}
	*d = durationForm(micros)
}

func (d *durationForm) Write(w *fields.Writer)   { w.String(formatDuration(int64(*d))) }
func (d *durationForm) IsDefault() bool          { return *d == 0 }
func (d *durationForm) Clear()                   { *d = 0 }
func (d *durationForm) Describe(a *fields.About) { a.Kind = "duration" }

// shareForm is the form of a decimal from 0 to 1 that is kept in millionths. A
// missing one is 0.
type shareForm int64

func (f *shareForm) Read(r *fields.Reader)    { readFraction(r, (*int64)(f), 0, million) }
func (f *shareForm) Write(w *fields.Writer)   { w.Raw(decimalOf(int64(*f), 6)) }
func (f *shareForm) IsDefault() bool          { return *f == 0 }
func (f *shareForm) Clear()                   { *f = 0 }
func (f *shareForm) Describe(a *fields.About) { a.Kind, a.High = "fraction", 1 }

// factorForm is the form of a decimal from 1 to 1000 that is kept in millionths.
// A missing one is 0.
type factorForm int64

const maxFactor = 1000

func (f *factorForm) Read(r *fields.Reader)    { readFraction(r, (*int64)(f), million, maxFactor*million) }
func (f *factorForm) Write(w *fields.Writer)   { w.Raw(decimalOf(int64(*f), 6)) }
func (f *factorForm) IsDefault() bool          { return *f == 0 }
func (f *factorForm) Clear()                   { *f = 0 }
func (f *factorForm) Describe(a *fields.About) { a.Kind, a.Low, a.High = "fraction", 1, maxFactor }

func readFraction(r *fields.Reader, to *int64, low, high int64) {
	v := r.In.Value()
	n, exact := int64(0), false
	if v.Kind == strictjson.Number {
		n, exact = strictjson.Scaled(v.Text, 6)
	}
	if !exact || n < low || n > high {
		r.Fault("expected a number from " + decimalOf(low, 6) + " to " + decimalOf(high, 6) +
			" with at most 6 decimals, not " + show(v))
		return
	}
	*to = n
}

// show is how a fault shows a value.
func show(v strictjson.Value) string {
	switch v.Kind {
	case strictjson.String:
		return strictjson.Quote(v.Text)
	case strictjson.Number:
		return v.Text
	}
	return v.Kind.String()
}
