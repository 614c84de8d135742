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
	met    []string // the members of the messages that are being read, one inside the other

	list    List // of the message that is being read; what is inside it uses it too
	now     reading
	checked Checked
}

// Read reads a whole text as one message. The error is a *strictjson.SyntaxError
// where it is no JSON; else faults are all that is wrong with the message.
func Read(text string, limits strictjson.Limits, open Openness, m Message) (faults []strictjson.Fault, err error) {
	r := &Reader{In: strictjson.NewReader(text, limits), open: open, path: make([]step, 0, 8), met: make([]string, 0, 32)}
	r.list.with = r
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
	named  bool
}

// Fault reports that something is wrong with the value that is being read.
func (r *Reader) Fault(message string) {
	path := ""
	for _, s := range r.path {
		if s.named {
			path = strictjson.Join(path, s.member)
		} else {
			path = strictjson.Index(path, s.item)
		}
	}
	r.faults = append(r.faults, strictjson.Fault{Field: path, Message: message})
}

func (r *Reader) enter(member string) { r.path = append(r.path, step{member: member, named: true}) }

func (r *Reader) leave() { r.path = r.path[:len(r.path)-1] }

// faultOf reports that something is wrong with a member.
func (r *Reader) faultOf(member, message string) {
	r.enter(member)
	r.Fault(message)
	r.leave()
}

// Expect says whether the value that comes next is of a kind. One that is not is
// reported and passed over.
func (r *Reader) Expect(want strictjson.Kind) bool {
	is := r.In.Kind()
	if is == want {
		return true
	}
	r.In.Skip()
	r.Fault("expected " + want.String() + ", not " + is.String())
	return false
}

// field reads the value of a field.
func (r *Reader) field(f *Field) {
	r.enter(f.name)
	switch {
	case f.form != nil:
		f.form.Read(r)
	case f.message != nil:
		r.Message(f.message)
	case f.nested == nil:
		r.plain(f)
	case f.nested.array():
		r.items(f)
	default:
		r.Message(f.nested.inside(0))
	}
	r.leave()
}

func (r *Reader) plain(f *Field) {
	switch at := f.at.(type) {
	case *string:
		r.text(f, at)
	case *bool:
		r.flag(f, at)
	case **bool:
		if r.Expect(strictjson.Bool) {
			is := r.In.Bool()
			*at = &is
		}
	case *int64:
		if n, ok := r.number(f); ok {
			*at = n
		}
	case **int64:
		if n, ok := r.number(f); ok {
			*at = &n
		}
	}
}

func (r *Reader) text(f *Field, to *string) {
	if len(f.words) > 0 {
		if is, ok := r.Word(f.words); ok {
			*to = is
		}
	} else if r.Expect(strictjson.String) {
		*to = r.In.String()
		if f.high > 0 && int64(len(*to)) > f.high {
			r.Fault("is longer than " + decimal(f.high) + " bytes")
		}
	}
}

func (r *Reader) flag(f *Field, to *bool) {
	if len(f.words) > 0 {
		if is, ok := r.Word(f.words); ok {
			*to = is == f.words[1]
		}
	} else if r.Expect(strictjson.Bool) {
		*to = r.In.Bool()
	}
}

// Word reads a string that is one of some words, none of which is "". A reader
// that is open takes any other too.
func (r *Reader) Word(words []string) (is string, ok bool) {
	if !r.Expect(strictjson.String) {
		return "", false
	}
	is = r.In.String()
	for _, w := range words {
		if w == is && w != "" {
			return is, true
		}
	}
	if !bool(r.open) {
		r.Fault("expected one of " + listed(words) + ", not " + strictjson.Quote(is))
	}
	return is, bool(r.open)
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
	if !r.Expect(strictjson.Number) {
		return 0, false
	}
	literal := r.In.Number()
	n, ok = strictjson.Integer(literal)
	if ok && n >= f.low && n <= f.high {
		return n, true
	}
	if f.low == f.high {
		r.Fault("expected " + decimal(f.low) + ", not " + literal)
	} else {
		r.Fault("expected a whole number from " + decimal(f.low) + " to " + decimal(f.high) + ", not " + literal)
	}
	return 0, false
}

func decimal(n int64) string { return string(strictjson.AppendInt(nil, n)) }

func (r *Reader) items(f *Field) {
	list, least, most, why := f.nested, f.low, f.high, f.why // f is used again for what is inside
	enough := most
	if most > 0 {
		enough++ // a Check can see that there are too many
	}
	n, ok := r.Each(enough, func(i int) { r.Message(list.inside(i)) })
	if ok && (n < least || most > 0 && n > most) {
		r.Fault(why)
	}
}

// Each reads the array that comes next, item by item, and counts them. Those
// after the first most are passed over; 0 is no bound.
func (r *Reader) Each(most int64, read func(i int)) (n int64, ok bool) {
	if !r.Expect(strictjson.Array) {
		return 0, false
	}
	r.In.Open()
	for more := r.In.Item(true); more; more = r.In.Item(false) {
		if most > 0 && n >= most {
			r.In.Skip()
		} else {
			r.path = append(r.path, step{item: int(n)})
			read(int(n))
			r.leave()
		}
		n++
	}
	return n, true
}

// Members reads the object that comes next, whatever its members are called,
// and counts them.
func (r *Reader) Members(read func(name string)) (n int64, ok bool) {
	if !r.Expect(strictjson.Object) {
		return 0, false
	}
	before := map[string]bool{}
	r.In.Open()
	for name, more := r.In.Member(true); more; name, more = r.In.Member(false) {
		if before[name] {
			r.In.Repeated(name)
		}
		before[name] = true
		r.enter(name)
		read(name)
		r.leave()
		n++
	}
	return n, true
}
