// Package fields describes messages once. A message lists its fields, each with
// its name, its place in memory and its bounds, and from that come its reader,
// its writer, its JSON Schema and its table in ABI.md:
//
//	func (s *Slept) Fields(f *fields.List) {
//		fields.Word(f, "wait", &s.Wait, "full", "woken").Required().Says("how the wait ended")
//		f.Int("now_us", &s.NowUS, -most, most).Required().Says("when")
//	}
package fields

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
	all []Field
}

// Field is one member of a message.
type Field struct {
	Name string
	// Low and High bound a number, and the bytes of a string.
	Low, High int64
	// Words are what a word may be; the first is what a missing one stands for.
	Words []string

	Form Form

	required  bool
	why       string // it is
	always    bool   // it is written even if a missing one would say the same
	otherwise bool   // what a missing flag stands for

	about About
}

// About is what is said of a field to people.
type About struct {
	Says    string // what it is
	Type    string // instead of what its form says of itself
	Default string // in words, where a missing one stands for something
	Since   string // the first version of the contract that has it
}

// Form is how the value of a field is read and written.
type Form interface {
	// Read reads the value that comes next.
	Read(*Reader, *Field)
	// Write writes the value.
	Write(*Writer, *Field)
	// Left says that a missing member says the same as the value.
	Left(*Field) bool
	// Clear makes the value what a missing member stands for.
	Clear(*Field)
	// Shape describes the form.
	Shape(*Field) Shape
}

// Add adds a field of any form.
func (l *List) Add(name string, form Form) *Field {
	if l.all == nil {
		l.all = make([]Field, 0, usualFields)
	}
	l.all = append(l.all, Field{Name: name, Form: form})
	return &l.all[len(l.all)-1]
}

// usualFields is as many as most messages have (a choice).
const usualFields = 16

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

// Says tells people what the field is.
func (f *Field) Says(what string) *Field {
	f.about.Says = what
	return f
}

// As names the field's type for people, where its form is not enough.
func (f *Field) As(what string) *Field {
	f.about.Type = what
	return f
}

// Default tells people what a missing field stands for.
func (f *Field) Default(what string) *Field {
	f.about.Default = what
	return f
}

// Since is the first version of the contract that has the field; 1.0 unless said.
func (f *Field) Since(version string) *Field {
	f.about.Since = version
	return f
}

// find is the index of the field called name, -1 where there is none. They
// mostly come in order, so the one at next is looked at first.
func (l *List) find(name string, next int) int {
	if next < len(l.all) && l.all[next].Name == name {
		return next
	}
	for i := range l.all {
		if l.all[i].Name == name {
			return i
		}
	}
	return -1
}
