// Package fields describes messages once. A message lists its fields, each with
// its name, its place in memory and its bounds, and from that come its reader,
// its writer, its JSON Schema and its table in ABI.md:
//
//	func (s *Slept) Fields(f *fields.List) {
//		f.Word("wait", (*string)(&s.Wait), waits).Required().Says("how the wait ended")
//		f.Int("now_us", &s.NowUS, -fields.Most, fields.Most).Required().Says("when")
//	}
package fields

import "outlast/abi/strictjson"

// Most is the largest magnitude of a whole number on the wire.
const Most = strictjson.MaxInteger

// Message is a JSON object with a known set of members.
type Message interface {
	// Fields lists the message's fields, at most 64, in the order in which they
	// are written. It may be called several times while a message is read.
	Fields(*List)
}

// Checker is a message of which more must hold than its fields say one by one.
type Checker interface {
	// Check reports what is wrong, once all fields have been read.
	Check(*Checked)
}

// List is where a message lists its fields. There is one Field at a time: it is
// dealt with when the next one is listed, and so with all that was said of it.
type List struct {
	with visitor
	last Field
}

// visitor reads, writes or describes a message field by field.
type visitor interface{ visit(*Field) }

// Field is one member of a message: exactly one of at, form, message and nested
// says where its value is. They are apart because the plugin's interpreter takes
// long to find out whether a value is of an interface.
type Field struct {
	name      string
	at        any // *string, *bool, **bool, *int64 or **int64
	form      Form
	message   Message
	nested    nested
	low, high int64    // bounds of a number; of a string's bytes and an array's length, where high is above 0
	words     []string // that a string may be; a missing one is the first
	why       string   // it is required; of an array: what it must have

	missing   int64 // what a missing number stands for
	otherwise bool  // what a missing flag stands for
	required  bool
	always    bool // it is written even if a missing one would say the same
	omitted   bool // it is not written

	about *About // nil: nobody asks
}

// Form is how a value is read and written that is of no usual kind.
type Form interface {
	Read(*Reader)          // the value that comes next
	Write(*Writer)         // the value
	IsDefault() bool       // a missing member says the same as the value
	Clear()                // make the value what a missing member stands for
	Describe(about *About) // what kind it is, and its bounds
}

// all deals with every field of a message.
func (l *List) all(m Message) {
	l.last.name = ""
	m.Fields(l)
	l.done()
}

// done deals with the field that was listed last.
func (l *List) done() {
	if l.last.name != "" {
		l.with.visit(&l.last)
	}
}

// add makes room for the next field, once the one before has been dealt with.
func (l *List) add(name string) *Field {
	l.done()
	f := &l.last
	*f = Field{name: name}
	if describes {
		if d, ok := l.with.(*describing); ok {
			f.about = d.next()
		}
	}
	return f
}

func (l *List) addAt(name string, at any) *Field {
	f := l.add(name)
	f.at = at
	return f
}

// Add lists a field of a form of its own.
func (l *List) Add(name string, form Form) *Field {
	f := l.add(name)
	f.form = form
	return f
}

// String lists a text of at most so many bytes; 0 is no bound.
func (l *List) String(name string, to *string, most int64) *Field {
	f := l.addAt(name, to)
	f.high = most
	return f
}

// Word lists a string that is one of some words, of which the first is what a
// missing one stands for; a first one of "" can only be missing. A reader that
// is open takes any other too: a newer plugin may have more.
func (l *List) Word(name string, to *string, words []string) *Field {
	f := l.addAt(name, to)
	f.words = words
	return f
}

// Either lists a flag that is written as one of two words, the first for false.
// A missing one is false.
func (l *List) Either(name string, to *bool, words []string) *Field {
	f := l.addAt(name, to)
	f.words = words
	return f
}

// Flag lists a boolean. A missing one is false, unless said otherwise.
func (l *List) Flag(name string, to *bool) *Field { return l.addAt(name, to) }

// OptionalFlag lists a boolean that may be missing.
func (l *List) OptionalFlag(name string, to **bool) *Field { return l.addAt(name, to) }

// Int lists a whole number between low and high. A missing one is 0, unless
// said otherwise.
func (l *List) Int(name string, to *int64, low, high int64) *Field {
	f := l.addAt(name, to)
	f.low, f.high = low, high
	return f
}

// OptionalInt lists a whole number that may be missing.
func (l *List) OptionalInt(name string, to **int64, low, high int64) *Field {
	f := l.addAt(name, to)
	f.low, f.high = low, high
	return f
}

// Message lists a message inside this one, which is always there.
func (l *List) Message(name string, m Message) *Field {
	f := l.add(name)
	f.message = m
	return f
}

// Required says that the member must be there.
func (f *Field) Required() *Field {
	f.required, f.always = true, true
	return f
}

// Because says why the member is required, for who has left it out.
func (f *Field) Because(why string) *Field {
	f.why = why
	return f
}

// Between bounds how many items an array has; most of 0 is no bound. expected
// is what is said of one that has another number.
func (f *Field) Between(least, most int64, expected string) *Field {
	f.low, f.high, f.why = least, most, expected
	return f
}

// Always says that the member is written even where it could be left out.
func (f *Field) Always(so bool) *Field {
	f.always = so
	return f
}

// OmitIf says that the member is not written.
func (f *Field) OmitIf(so bool) *Field {
	f.omitted = so
	return f
}

// Otherwise is what a missing flag stands for.
func (f *Field) Otherwise(flag bool) *Field {
	f.otherwise = flag
	return f
}

// Missing is what a missing number stands for.
func (f *Field) Missing(n int64) *Field {
	f.missing = n
	return f
}

// isDefault says that a missing member says the same as the field's value.
func (f *Field) isDefault() bool {
	switch {
	case f.form != nil:
		return f.form.IsDefault()
	case f.message != nil:
		return false
	case f.nested != nil:
		return f.nested.count() == 0
	}
	switch at := f.at.(type) {
	case *string:
		return *at == "" || len(f.words) > 0 && *at == f.words[0]
	case *bool:
		return *at == f.otherwise
	case **bool:
		return *at == nil
	case *int64:
		return *at == f.missing
	case **int64:
		return *at == nil
	}
	return false
}

// clear makes the field's value what a missing member stands for, where that is
// not what a new message has.
func (f *Field) clear() {
	if f.form != nil {
		f.form.Clear()
		return
	}
	switch at := f.at.(type) {
	case *string:
		if len(f.words) > 0 {
			*at = f.words[0]
		}
	case *bool:
		*at = f.otherwise
	case *int64:
		*at = f.missing
	}
}
