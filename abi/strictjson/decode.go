package strictjson

// Fault is one thing wrong with a document or request, and where.
type Fault struct {
	Field   string // path, such as budgets.unavailable.max_wait; "" is the whole
	Message string
}

func (f Fault) Error() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Faults collects what is wrong while a value is read, so that a user sees
// every fault of a document at once.
type Faults struct {
	List []Fault
}

// Add records a fault.
func (f *Faults) Add(field, message string) {
	f.List = append(f.List, Fault{field, message})
}

// Err is the first fault as an error, or nil.
func (f *Faults) Err() error {
	if len(f.List) == 0 {
		return nil
	}
	return f.List[0]
}

// Members reads one object's members by name. Each name that was asked for is
// known; End reports the others.
type Members struct {
	faults *Faults
	path   string
	names  []string
	items  []Value
	next   int    // the member after the last that was asked for: they mostly come in order
	first  uint64 // which of the first 64 members are known, a bit each
	others []bool // which of the others are
}

// bits64 is how many members have a bit.
const bits64 = 64

// Members starts reading v as an object; any other kind is a fault.
func (f *Faults) Members(v Value, path string) *Members {
	if v.Kind != Object {
		f.Add(path, "expected an object, not "+v.Kind.String())
		v = Value{}
	}
	m := &Members{faults: f, path: path, names: v.Names, items: v.Items}
	if len(v.Names) > bits64 {
		m.others = make([]bool, len(v.Names)-bits64)
	}
	return m
}

// Path is the path of the member called name.
func (m *Members) Path(name string) string {
	return Join(m.path, name)
}

// Join appends a member's name to a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Index appends an array index to a path.
func Index(path string, i int) string {
	return path + "[" + itoa(int64(i)) + "]"
}

// Fault records a fault of the member called name.
func (m *Members) Fault(name, message string) {
	m.faults.Add(m.Path(name), message)
}

// find is the index of the member called name, -1 where there is none.
func (m *Members) find(name string) int {
	if m.next < len(m.names) && m.names[m.next] == name {
		return m.next
	}
	for i, n := range m.names {
		if n == name {
			return i
		}
	}
	return -1
}

// Value is the member called name; its Kind is Missing where there is none.
func (m *Members) Value(name string) Value {
	i := m.find(name)
	if i < 0 {
		return Value{}
	}
	if i < bits64 {
		m.first |= 1 << i
	} else {
		m.others[i-bits64] = true
	}
	m.next = i + 1
	return m.items[i]
}

// Has says whether there is a member called name, without marking it as known.
func (m *Members) Has(name string) bool {
	return m.find(name) >= 0
}

// Unknown says whether there are members that were not asked for.
func (m *Members) Unknown() bool {
	for i := range m.names {
		if i < bits64 && m.first&(1<<i) == 0 || i >= bits64 && !m.others[i-bits64] {
			return true
		}
	}
	return false
}

// Require is Value, and a fault where there is none.
func (m *Members) Require(name string) Value {
	v := m.Value(name)
	if v.Kind == Missing {
		m.Fault(name, "is missing")
	}
	return v
}

// typed is the member called name where it has the wanted kind. A missing one
// is no fault, one of another kind is.
func (m *Members) typed(name string, want Kind) (v Value, ok bool) {
	v = m.Value(name)
	if v.Kind == want {
		return v, true
	}
	if v.Kind != Missing {
		m.Fault(name, "expected "+want.String()+", not "+v.Kind.String())
	}
	return Value{}, false
}

// String is a string member, "" where it is missing.
func (m *Members) String(name string) string {
	v, _ := m.typed(name, String)
	return v.Text
}

// Bool is a boolean member, or the default where it is missing.
func (m *Members) Bool(name string, missing bool) bool {
	v, ok := m.typed(name, Bool)
	if !ok {
		return missing
	}
	return v.Truth
}

// Int is a whole-number member between low and high; it is low's or high's
// fault otherwise. ok is false where it is missing or at fault.
func (m *Members) Int(name string, low, high int64) (n int64, ok bool) {
	v, ok := m.typed(name, Number)
	if !ok {
		return 0, false
	}
	n, whole := Integer(v.Text)
	if !whole || n < low || n > high {
		m.Fault(name, "expected a whole number from "+itoa(low)+" to "+itoa(high)+", not "+v.Text)
		return 0, false
	}
	return n, true
}

// OneOf is a string member that must be one of the allowed words; the first of
// them where it is missing. A first one of "" stands for a missing member only.
func (m *Members) OneOf(name string, allowed ...string) string {
	v, ok := m.typed(name, String)
	if !ok {
		return allowed[0]
	}
	for _, a := range allowed {
		if v.Text == a && a != "" {
			return a
		}
	}
	list := ""
	for _, a := range allowed {
		if list != "" {
			list += ", "
		}
		if a != "" {
			list += Quote(a)
		}
	}
	m.Fault(name, "expected one of "+list+", not "+Quote(v.Text))
	return allowed[0]
}

// Array is an array member's values, nil where it is missing.
func (m *Members) Array(name string) []Value {
	v, _ := m.typed(name, Array)
	return v.Items
}

// End reports every member that nothing asked for.
func (m *Members) End() {
	if len(m.names) < bits64 && m.first == 1<<len(m.names)-1 {
		return
	}
	for i, name := range m.names {
		if i < bits64 && m.first>>i&1 == 0 || i >= bits64 && !m.others[i-bits64] {
			m.Fault(name, "is not a known field")
		}
	}
}
