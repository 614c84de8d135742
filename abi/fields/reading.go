package fields

import "outlast/abi/strictjson"

// reading is a message that is being read. Its fields are listed once if the
// text has them in their order, and once more for each that comes too early.
type reading struct {
	List
	reader *Reader
	name   string // of the member that comes next
	more   bool   // there is one

	fresh    bool   // the fields are listed for the first time
	finished bool   // all members have been read
	found    bool   // the member that came next was among the fields
	field    uint64 // the next field's bit in these:
	read     uint64
	required uint64
}

// Message reads the object that comes next.
func (r *Reader) Message(m Message) {
	if !r.Is(strictjson.Object) {
		return
	}
	s := &reading{reader: r, fresh: true}
	s.with = s
	first := len(r.met)
	var unknown names
	r.In.Open()
	s.name, s.more = r.In.Member(true)
	for s.fresh || s.more {
		s.list(m)
		s.fresh = false
		if s.more && !s.found {
			unknown.pass(r, s.name)
			s.name, s.more = r.In.Member(false)
		}
	}
	if r.In.Err() == nil {
		s.finish(m, r.met[first:], len(unknown.list) > 0)
		for i := 0; i < len(unknown.list) && !bool(r.open); i++ {
			r.faultOf(unknown.list[i], "is not a known field")
		}
	}
	r.met = r.met[:first]
}

func (s *reading) list(m Message) {
	s.field, s.found = 1, false
	s.all(m)
}

// visit reads the field if its member comes next.
func (s *reading) visit(f *Field) {
	bit := s.field
	s.field <<= 1
	if s.finished {
		if f.required && s.read&bit == 0 {
			s.reader.faultOf(f.name, "is missing"+f.because())
		}
		return
	}
	if s.fresh {
		s.start(f, bit)
	}
	if !s.more || f.name != s.name {
		return
	}
	r := s.reader
	if s.read&bit != 0 {
		r.In.Repeated(f.name)
	}
	s.read |= bit
	s.found = true
	r.met = append(r.met, f.name)
	r.field(f)
	s.name, s.more = r.In.Member(false)
}

func (s *reading) start(f *Field, bit uint64) {
	if form, ok := f.at.(Form); ok {
		form.Clear()
	} else {
		f.clear()
	}
	if f.required {
		s.required |= bit
	}
}

func (f *Field) because() string {
	if f.nested.array || f.why == "" {
		return ""
	}
	return ": " + f.why
}

// finish looks at the message as a whole.
func (s *reading) finish(m Message, met []string, unknown bool) {
	if s.required&^s.read != 0 {
		s.finished = true
		s.list(m)
	}
	if c, ok := m.(Checker); ok {
		c.Check(&Checked{s.reader, met, unknown})
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
