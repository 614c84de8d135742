package fields

import "outlast/abi/strictjson"

// Openness says what becomes of a member that is not known.
type Openness bool

// Hosts ignore what a newer plugin adds; the plugin refuses what it does not know.
const (
	Strict Openness = false
	Open   Openness = true
)

// Reader reads messages from a text, and collects what is wrong with them.
type Reader struct {
	In     *strictjson.Reader
	open   Openness
	path   []step
	faults []strictjson.Fault
	lists  *lists
}

// Read reads a whole text as one message. The error is a *strictjson.SyntaxError
// where it is no JSON; else faults are all that is wrong with the message.
func Read(text string, limits strictjson.Limits, open Openness, m Message) (faults []strictjson.Fault, err error) {
	r := &Reader{In: strictjson.NewReader(text, limits), open: open, lists: newLists()}
	defer r.lists.free()
	r.Message(m)
	if err := r.In.End(); err != nil {
		return nil, err
	}
	return r.faults, nil
}

// step is one step of a path: a member, or where it has no name an item.
type step struct {
	member string
	item   int
}

// Fault reports that something is wrong with the value that is being read.
func (r *Reader) Fault(message string) {
	path := ""
	for _, s := range r.path {
		if s.member != "" {
			path = strictjson.Join(path, s.member)
		} else {
			path = strictjson.Index(path, s.item)
		}
	}
	r.faults = append(r.faults, strictjson.Fault{Field: path, Message: message})
}

func (r *Reader) enter(member string) { r.path = append(r.path, step{member: member}) }

func (r *Reader) leave() { r.path = r.path[:len(r.path)-1] }

// faultOf reports that something is wrong with a member.
func (r *Reader) faultOf(member, message string) {
	r.enter(member)
	r.Fault(message)
	r.leave()
}

// Open says whether unknown members are ignored.
func (r *Reader) Open() bool { return bool(r.open) }

// Is says whether the value that comes next is of a kind. One that is not is
// reported and passed over.
func (r *Reader) Is(want strictjson.Kind) bool {
	is := r.In.Kind()
	if is == want {
		return true
	}
	r.In.Skip()
	r.Fault("expected " + want.String() + ", not " + is.String())
	return false
}

// Message reads the object that comes next.
func (r *Reader) Message(m Message) {
	if !r.Is(strictjson.Object) {
		return
	}
	list := r.lists.enter(m)
	for i := range list.all {
		list.all[i].clear()
	}
	var met uint64 // which fields have been read, a bit each
	var unknown []string
	r.In.Open()
	next := 0
	for name, ok := r.In.Member(true); ok; name, ok = r.In.Member(false) {
		i := list.find(name, next)
		if i < 0 {
			unknown = r.unknown(name, unknown)
			continue
		}
		if met&(1<<i) != 0 {
			r.In.Repeated(name)
		}
		met |= 1 << i
		next = i + 1
		f := &list.all[i]
		r.enter(name)
		r.field(f)
		r.leave()
	}
	r.lists.leave()
	if r.In.Err() == nil {
		r.finish(list, met, m)
		for i := 0; i < len(unknown) && !bool(r.open); i++ {
			r.faultOf(unknown[i], "is not a known field")
		}
	}
}

// unknown passes over a member that is not known.
func (r *Reader) unknown(name string, before []string) []string {
	for _, n := range before {
		if n == name {
			r.In.Repeated(name)
		}
	}
	r.In.Skip()
	return append(before, name)
}

// finish looks at the message as a whole.
func (r *Reader) finish(list *List, met uint64, m Message) {
	for i := range list.all {
		if f := &list.all[i]; f.required && met&(1<<i) == 0 {
			r.faultOf(f.name, "is missing"+f.why)
		}
	}
	if c, ok := m.(Checker); ok {
		c.Check(&Checked{r, list, met})
	}
}

// Checked is a message that has been read.
type Checked struct {
	reader *Reader
	list   *List
	met    uint64
}

// Has says whether there is a member of a name.
func (c *Checked) Has(name string) bool {
	i := c.list.find(name, 0)
	return i >= 0 && c.met&(1<<i) != 0
}

// Fault reports that something is wrong with the member called name; "" is the
// message itself.
func (c *Checked) Fault(name, message string) {
	if name == "" {
		c.reader.Fault(message)
		return
	}
	c.reader.faultOf(name, message)
}

// field reads the value of a field.
func (r *Reader) field(f *Field) {
	switch at := f.at.(type) {
	case *string:
		r.text(f, at)
	case *bool:
		if r.Is(strictjson.Bool) {
			*at = r.In.Bool()
		}
	case **bool:
		if r.Is(strictjson.Bool) {
			is := r.In.Bool()
			*at = &is
		}
	case *int64:
		*at, _ = r.number(f)
	case **int64:
		if n, ok := r.number(f); ok {
			*at = &n
		}
	case Form:
		at.Read(r)
	default:
		if f.array {
			r.Each(func(i int) { r.Message(f.inside(i)) })
		} else {
			r.Message(f.inside(0))
		}
	}
}

func (r *Reader) text(f *Field, to *string) {
	if !r.Is(strictjson.String) {
		return
	}
	is := r.In.String()
	switch {
	case len(f.words) > 0:
		if !f.has(is) && !bool(r.open) {
			r.Fault("expected one of " + listed(f.words) + ", not " + strictjson.Quote(is))
			return
		}
	case f.high > 0 && int64(len(is)) > f.high:
		r.Fault("is longer than " + decimal(f.high) + " bytes")
	}
	*to = is
}

// has says whether a word is one that the field may have.
func (f *Field) has(is string) bool {
	for _, w := range f.words {
		if w == is && w != "" {
			return true
		}
	}
	return false
}

// listed is words for a message; one that is empty cannot be given.
func listed(words []string) string {
	list := ""
	for _, w := range words {
		if list != "" {
			list += ", "
		}
		if w != "" {
			list += strictjson.Quote(w)
		}
	}
	return list
}

// number reads a whole number within its bounds.
func (r *Reader) number(f *Field) (n int64, ok bool) {
	if !r.Is(strictjson.Number) {
		return 0, false
	}
	literal := r.In.Number()
	n, ok = strictjson.Integer(literal)
	if !ok || n < f.low || n > f.high {
		r.Fault("expected a whole number from " + decimal(f.low) + " to " + decimal(f.high) + ", not " + literal)
		return 0, false
	}
	return n, true
}

func decimal(n int64) string { return string(strictjson.AppendInt(nil, n)) }

// Each reads the array that comes next, item by item.
func (r *Reader) Each(read func(i int)) {
	if !r.Is(strictjson.Array) {
		return
	}
	r.In.Open()
	for i, more := 0, r.In.Item(true); more; i, more = i+1, r.In.Item(false) {
		r.path = append(r.path, step{item: i})
		read(i)
		r.leave()
	}
}
