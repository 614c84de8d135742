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
	lists  []*List // of the messages that are being read, and room for others
	depth  int
}

// Read reads a whole text as one message. The error is a *strictjson.SyntaxError
// where it is no JSON; else faults are all that is wrong with the message.
func Read(text string, limits strictjson.Limits, open Openness, m Message) (faults []strictjson.Fault, err error) {
	r := &Reader{In: strictjson.NewReader(text, limits), open: open}
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
	list := r.list(m)
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
		f.Form.Read(r, f)
		r.leave()
	}
	r.depth--
	if r.In.Err() == nil {
		r.finish(list, met, m)
		for i := 0; i < len(unknown) && !bool(r.open); i++ {
			r.faultOf(unknown[i], "is not a known field")
		}
	}
}

// list is the message's fields, each with what it stands for where it is missing.
func (r *Reader) list(m Message) *List {
	if r.depth == len(r.lists) {
		r.lists = append(r.lists, &List{})
	}
	list := r.lists[r.depth]
	r.depth++
	list.all = list.all[:0]
	m.Fields(list)
	for i := range list.all {
		list.all[i].Form.Clear(&list.all[i])
	}
	return list
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
			r.faultOf(f.Name, "is missing"+f.why)
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
