// Package fields describes messages once. A message lists its fields, each with
// its name, its place in memory and its bounds, and from that come its reader,
// its writer, its JSON Schema and its table in ABI.md:
//
//	func (s *Slept) Fields(f *fields.List) {
//		f.Word("wait", (*string)(&s.Wait), "", "full", "woken").Required().Says("how the wait ended")
//		f.Int("now_us", &s.NowUS, -fields.Most, fields.Most).Required().Says("when")
//	}
package fields

import "outlast/abi/strictjson"

// Most is the largest magnitude of a whole number on the wire.
const Most = strictjson.MaxInteger

// Message is a JSON object with a known set of members.
type Message interface {
	// Fields adds the message's fields, in the order in which they are written.
	Fields(*List)
}

// Checker is a message of which more must hold than its fields say one by one.
type Checker interface {
	// Check reports what is wrong, once all fields have been read.
	Check(*Checked)
}

// List is the fields of a message.
type List struct {
	all        []Field
	describing bool
}

// Field is one member of a message.
type Field struct {
	name      string
	at        any // *string, *bool, **bool, *int64, **int64 or Form; nil: an object or array
	inside    func(i int) Message
	count     int      // of what is inside, of an array or an optional object
	array     bool     // of messages
	low, high int64    // bounds of a number; of a string's bytes, where high is above 0
	words     []string // that a string may be; a missing one is the first

	required  bool
	always    bool   // it is written even if a missing one would say the same
	otherwise bool   // what a missing flag stands for
	why       string // it is required

	about *About // nil: nobody asks
}

// Form is how a value is read and written that is of no usual kind.
type Form interface {
	Read(*Reader)          // the value that comes next
	Write(*Writer)         // the value
	Left() bool            // a missing member says the same as the value
	Clear()                // make the value what a missing member stands for
	Describe(about *About) // what kind it is, and its bounds
}

func (l *List) add(name string, at any) *Field {
	l.all = append(l.all, Field{name: name, at: at})
	f := &l.all[len(l.all)-1]
	if l.describing {
		f.about = &About{}
	}
	return f
}

// Add adds a field of a form of its own.
func (l *List) Add(name string, form Form) *Field { return l.add(name, form) }

// String adds a text of at most so many bytes; 0 is no bound.
func (l *List) String(name string, to *string, most int64) *Field {
	f := l.add(name, to)
	f.high = most
	return f
}

// Word adds a string that is one of some words, of which the first is what a
// missing one stands for; a first one of "" can only be missing. A reader that
// is open takes any other too: a newer plugin may have more.
func (l *List) Word(name string, to *string, words ...string) *Field {
	f := l.add(name, to)
	f.words = words
	return f
}

// Flag adds a boolean. A missing one is false, unless said otherwise.
func (l *List) Flag(name string, to *bool) *Field { return l.add(name, to) }

// OptionalFlag adds a boolean that may be missing.
func (l *List) OptionalFlag(name string, to **bool) *Field { return l.add(name, to) }

// Int adds a whole number between low and high. A missing one is 0.
func (l *List) Int(name string, to *int64, low, high int64) *Field {
	f := l.add(name, to)
	f.low, f.high = low, high
	return f
}

// OptionalInt adds a whole number that may be missing.
func (l *List) OptionalInt(name string, to **int64, low, high int64) *Field {
	f := l.add(name, to)
	f.low, f.high = low, high
	return f
}

// Message adds a message inside this one, which is always there.
func (l *List) Message(name string, m Message) *Field {
	f := l.add(name, nil)
	f.count = 1
	f.inside = func(int) Message { return m }
	return f
}

// Optional adds a message inside this one that may be missing: to is where it
// is, and make makes one.
func Optional[T any, M interface {
	*T
	Message
}](l *List, name string, to **T) *Field {
	f := l.add(name, nil)
	if *to != nil {
		f.count = 1
	}
	f.inside = func(int) Message {
		if *to == nil {
			*to = new(T)
		}
		return M(*to)
	}
	return f
}

// Items adds an array of messages.
func Items[T any, M interface {
	*T
	Message
}](l *List, name string, to *[]T) *Field {
	f := l.add(name, nil)
	f.array, f.count = true, len(*to)
	f.inside = func(i int) Message {
		if i == len(*to) {
			*to = append(*to, *new(T))
		}
		return M(&(*to)[i])
	}
	return f
}

// Required says that the member must be there.
func (f *Field) Required() *Field {
	f.required, f.always = true, true
	return f
}

// Because says why the member is required, for who has left it out.
func (f *Field) Because(why string) *Field {
	f.why = ": " + why
	return f
}

// Always says that the member is written even where it could be left out.
func (f *Field) Always(so bool) *Field {
	f.always = so
	return f
}

// Otherwise is what a missing flag stands for.
func (f *Field) Otherwise(flag bool) *Field {
	f.otherwise = flag
	return f
}

// find is the index of the field called name, -1 where there is none. They
// mostly come in order, so the one at next is looked at first.
func (l *List) find(name string, next int) int {
	if next < len(l.all) && l.all[next].name == name {
		return next
	}
	for i := range l.all {
		if l.all[i].name == name {
			return i
		}
	}
	return -1
}

// left says that a missing member says the same as the field's value.
func (f *Field) left() bool {
	switch at := f.at.(type) {
	case *string:
		return *at == "" || len(f.words) > 0 && *at == f.words[0]
	case *bool:
		return *at == f.otherwise
	case **bool:
		return *at == nil
	case *int64:
		return *at == 0
	case **int64:
		return *at == nil
	case Form:
		return at.Left()
	}
	return f.count == 0
}

// clear makes the field's value what a missing member stands for, where that is
// not what a new message has.
func (f *Field) clear() {
	switch at := f.at.(type) {
	case *string:
		if len(f.words) > 0 {
			*at = f.words[0]
		}
	case *bool:
		*at = f.otherwise
	}
}
