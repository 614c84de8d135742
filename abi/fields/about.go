package fields

// About is a field as it is described to people and to other languages.
type About struct {
	Name     string
	Kind     string // string, boolean, integer, word, object, array, or what a Form says
	Low      int64
	High     int64
	Words    []string
	Of       Message // of an object, or of an array's items
	Items    *About  // an array's items that are no messages
	Required bool
	Says     string // what it is
	Default  string // in words, what a missing one stands for
	Since    string // the first version of the contract that has it
}

// Says tells people what the field is.
func (f *Field) Says(what string) *Field {
	if describes && f.about != nil {
		f.about.Says = what
	}
	return f
}

// As gives people another kind and another bound than the field's own.
func (f *Field) As(kind string, high int64) *Field {
	if describes && f.about != nil {
		f.about.Kind, f.about.High = kind, high
	}
	return f
}

// Default tells people what a missing field stands for.
func (f *Field) Default(what string) *Field {
	if describes && f.about != nil {
		f.about.Default = what
	}
	return f
}

// Since is the first version of the contract that has the field; 1.0 unless said.
func (f *Field) Since(version string) *Field {
	if describes && f.about != nil {
		f.about.Since = version
	}
	return f
}

// Describe is what the fields of a message are. What is inside is made, so the
// message must be a new one.
func Describe(m Message) []About {
	d := &describing{}
	l := List{with: d}
	l.all(m)
	return d.list
}

// describing collects what fields are.
type describing struct {
	list  []About
	about About // the field that was listed last
}

// next is where that field is described.
func (d *describing) next() *About {
	d.about = About{}
	return &d.about
}

func (d *describing) visit(f *Field) { d.list = append(d.list, f.described()) }

func (f *Field) described() About {
	a := *f.about
	a.Name, a.Words, a.Required = f.name, f.words, f.required
	if a.Since == "" {
		a.Since = "1.0"
	}
	if a.Kind != "" {
		return a
	}
	a.Low, a.High = f.low, f.high
	switch {
	case f.form != nil:
		f.form.Describe(&a)
	case f.message != nil:
		a.Kind, a.Of = "object", f.message
	case f.nested != nil:
		a.Kind, a.Of = "object", f.nested.inside(0)
		if f.nested.array() {
			a.Kind = "array"
		}
	}
	switch f.at.(type) {
	case *string:
		a.Kind = "string"
		if len(f.words) > 0 {
			a.Kind = "word"
		}
	case *bool, **bool:
		a.Kind = "boolean"
		if len(f.words) > 0 {
			a.Kind = "word"
		}
	case *int64, **int64:
		a.Kind = "integer"
	}
	return a
}
