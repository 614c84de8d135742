package fields

// Shape is what a form is, for schemas, tables and other languages' types.
type Shape struct {
	Kind      string // string, boolean, integer, number, word, object, array, or what its own package knows
	Low, High int64
	Words     []string
	Of        Message // of an object, or of an array's items
}

// Described is one field as it is described.
type Described struct {
	Name     string
	Shape    Shape
	Required bool
	About    About
}

// Describe is what a message's fields are.
func Describe(m Message) []Described {
	var l List
	m.Fields(&l)
	var out []Described
	for i := range l.all {
		f := &l.all[i]
		out = append(out, Described{f.Name, f.Form.Shape(f), f.required, f.about})
	}
	return out
}
