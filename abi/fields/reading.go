package fields

import "outlast/abi/strictjson"

// reading is how far a message has been read. Its fields are listed once if the
// text has them in their order, and once more for each that comes too early.
type reading struct {
	name string // of the member that comes next
	more bool   // there is one

	fresh    bool   // the fields are listed for the first time
	finished bool   // all members have been read
	found    bool   // the member that came next was among the fields
	field    uint64 // the next field's bit in these:
	read     uint64
	required uint64
}

// Message reads the object that comes next.
func (r *Reader) Message(m Message) {
	if !r.Expect(strictjson.Object) {
		return
	}
	outer, first := r.now, len(r.met)
	s := &r.now
	*s = reading{fresh: true}
	var unknown names
	r.In.Open()
	s.name, s.more = r.In.Member(true)
	for s.fresh || s.more {
		r.visitFields(m)
		s.fresh = false
		if s.more && !s.found {
			unknown.pass(r, s.name)
			s.name, s.more = r.In.Member(false)
		}
	}
	if r.In.Err() == nil {
		r.finish(m, r.met[first:], len(unknown.list) > 0)
		for i := 0; i < len(unknown.list) && !bool(r.open); i++ {
			r.faultOf(unknown.list[i], "is not a known field")
		}
	}
	r.met = r.met[:first]
	r.now = outer
}

func (r *Reader) visitFields(m Message) {
	r.now.field, r.now.found = 1, false
	r.list.all(m)
}

// visit reads the field if its member comes next.
func (r *Reader) visit(f *Field) {
	s := &r.now
	bit := s.field
	s.field <<= 1
	if s.finished {
		if f.required && s.read&bit == 0 {
			r.faultOf(f.name, "is missing"+f.because())
		}
		return
	}
	if s.fresh {
		f.clear()
		if f.required {
			s.required |= bit
		}
	}
	if !s.more || f.name != s.name {
		return
	}
	if s.read&bit != 0 {
		r.In.Repeated(f.name)
	}
	s.read |= bit
	s.found = true
	r.met = append(r.met, f.name)
	r.field(f)
	s.name, s.more = r.In.Member(false)
}

func (f *Field) because() string {
	if f.nested != nil && f.nested.array() || f.why == "" {
		return ""
	}
	return ": " + f.why
}

// finish looks at the message as a whole.
func (r *Reader) finish(m Message, met []string, unknown bool) {
	if r.now.required&^r.now.read != 0 {
		r.now.finished = true
		r.visitFields(m)
	}
	if c, ok := m.(Checker); ok {
		r.checked = Checked{r, met, unknown}
		c.Check(&r.checked)
	}
}

// names are members that are not known.
type names struct {
	list []string
	all  map[string]bool
}

// pass passes over one of them.
func (n *names) pass(r *Reader, name string) {
	if n.all == nil {
		n.all = map[string]bool{}
	}
	if n.all[name] {
		r.In.Repeated(name)
	}
	n.all[name] = true
	n.list = append(n.list, name)
	r.In.Skip()
}

// Checked is a message that has been read.
type Checked struct {
	reader  *Reader
	met     []string
	unknown bool
}

// Has says whether there is a member of a name.
func (c *Checked) Has(name string) bool {
	for _, n := range c.met {
		if n == name {
			return true
		}
	}
	return false
}

// Empty says whether there is no member at all.
func (c *Checked) Empty() bool { return len(c.met) == 0 && !c.unknown }

// Fault reports that something is wrong with the member called name, or at that
// path below the message; "" is the message itself.
func (c *Checked) Fault(name, message string) {
	if name == "" {
		c.reader.Fault(message)
		return
	}
	c.reader.faultOf(name, message)
}
