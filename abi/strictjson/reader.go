package strictjson

// Reader reads a text value by value, from its start to its end, without making
// a tree of it. What it refuses, Parse refuses.
type Reader struct {
	p     parser
	depth int
	name  int // where the last member's name is
}

// NewReader starts reading a text.
func NewReader(text string, limits Limits) *Reader {
	r := &Reader{p: parser{text: text, limits: limits}}
	if len(text) > limits.Bytes {
		r.p.tooLong()
	}
	r.p.space()
	return r
}

// Err is what is wrong with the text so far, a *SyntaxError, or nil. Once there
// is one, every value is empty and every list at its end.
func (r *Reader) Err() error {
	if r.p.err == nil {
		return nil
	}
	return r.p.err
}

// End checks that nothing follows, and is Err.
func (r *Reader) End() error {
	r.p.end()
	return r.Err()
}

// Repeated refuses the text for the member that was met last.
func (r *Reader) Repeated(name string) {
	if r.p.err == nil {
		r.p.pos = r.name
		r.p.repeated(name)
	}
}

// Kind is the kind of the value that comes next, Missing where there is none.
func (r *Reader) Kind() Kind {
	switch c := r.p.peek(); c {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return Missing
}

// Open enters the object or array that comes next.
func (r *Reader) Open() {
	if r.depth >= r.p.limits.Depth {
		r.p.tooDeep()
		return
	}
	r.depth++
	r.p.pos++
}

// Member is the name of the next member of the object that was entered; its
// value must be read before the next. first says that none has been read yet. At
// the end of the object, which it leaves, ok is false.
func (r *Reader) Member(first bool) (name string, ok bool) {
	p := &r.p
	if !r.next(first, '}', "expected , or } in an object") {
		return "", false
	}
	if p.peek() != '"' {
		p.fail("expected a member's name")
		return "", false
	}
	r.name = p.pos
	name = p.str()
	p.colon()
	return name, p.err == nil
}

// Item goes to the next item of the array that was entered, as Member does.
func (r *Reader) Item(first bool) bool {
	return r.next(first, ']', "expected , or ] in an array")
}

// next goes to what comes next in an object or array, or leaves it.
func (r *Reader) next(first bool, end byte, fault string) bool {
	p := &r.p
	more := false
	if first {
		more = !p.take(end)
		p.space()
	} else {
		more = p.more(end, fault)
	}
	if more && p.pos >= len(p.text) {
		p.fail("the value ends too early")
	}
	if !more || p.err != nil {
		r.depth--
		return false
	}
	return true
}

// String reads the string that comes next.
func (r *Reader) String() string { return r.p.str() }

// Number reads the literal of the number that comes next.
func (r *Reader) Number() string { return r.p.number().Text }

// Bool reads the boolean that comes next.
func (r *Reader) Bool() bool { return r.p.value(r.depth).Truth }

// Value reads the value that comes next, whatever it is.
func (r *Reader) Value() Value { return r.p.value(r.depth) }

// Skip passes over a value, whatever it is, and gives its text.
func (r *Reader) Skip() string {
	start := r.p.pos
	r.Value()
	if r.p.err != nil {
		return ""
	}
	return r.p.text[start:r.p.pos]
}
