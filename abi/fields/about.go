package fields

// About is a field as it is described to people and to other languages.
type About struct {
	Name     string
	Kind     string // string, boolean, integer, word, object, array, or what a Form says
	Low      int64
	High     int64
	Words    []string
	Of       Message // of an object, or of an array's items
	Required bool
	Says     string // what it is
	Default  string // in words, what a missing one stands for
	Since    string // the first version of the contract that has it
}

// Says tells people what the field is.
func (f *Field) Says(what string) *Field {
	if f.about != nil {
		f.about.Says = what
	}
	return f
}

// Default tells people what a missing field stands for.
func (f *Field) Default(what string) *Field {
	if f.about != nil {
		f.about.Default = what
	}
	return f
}

// Since is the first version of the contract that has the field; 1.0 unless said.
func (f *Field) Since(version string) *Field {
	if f.about != nil {
		f.about.Since = version
	}
	return f
}

// Describe is what the fields of a message are. What is inside is made, so the
// message must be a new one.
func Describe(m Message) []About {
	l := List{describing: true}
	m.Fields(&l)
	var out []About
	for i := range l.all {
		out = append(out, l.all[i].described())
	}
	return out
}

func (f *Field) described() About {
	a := *f.about
	a.Name, a.Low, a.High, a.Words, a.Required = f.name, f.low, f.high, f.words, f.required
	if a.Since == "" {
		a.Since = "1.0"
	}
	switch at := f.at.(type) {
	case *string:
		a.Kind = "string"
		if len(f.words) > 0 {
			a.Kind = "word"
		}
	case *bool, **bool:
		a.Kind = "boolean"
	case *int64, **int64:
		a.Kind = "integer"
	case Form:
		at.Describe(&a)
	default:
		a.Kind, a.Of = "object", f.inside(0)
		if f.array {
			a.Kind = "array"
		}
	}
	return a
}
