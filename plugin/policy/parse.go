package policy

import (
	"hash/fnv"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// DocumentVersion is the version of the document's form that this package reads.
const DocumentVersion = 1

// Bounds of a document, all of them choices: far above what a policy needs, and
// low enough that a state always fits into abi.MaxStateBytes.
const (
	maxBudgets  = 12
	maxRules    = 200
	maxWords    = 200
	maxWord     = 1_000
	maxAttempts = abi.MaxAttempts
)

// Parse reads a policy document. Its faults are all reported, in an *abi.Error
// of code invalid_policy.
func Parse(text string) (*Document, error) {
	limits := strictjson.Limits{Bytes: abi.MaxDocumentBytes, Depth: abi.MaxDepth}
	v, err := strictjson.Parse(text, limits)
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Message: "the policy is not JSON as it must be: " + err.Error()}
	}
	return FromValue(v)
}

// ParseWithin is Parse for a document inside a request, whose size is bounded by
// the request's.
func ParseWithin(text string) (*Document, error) {
	v, err := strictjson.Parse(text, strictjson.Limits{Bytes: abi.MaxRequestBytes, Depth: abi.MaxDepth})
	if err != nil {
		return nil, err
	}
	return FromValue(v)
}

// FromValue is Parse for a document that is parsed already.
func FromValue(v strictjson.Value) (*Document, error) {
	r := &reader{}
	doc := r.document(v)
	if len(r.List) > 0 {
		return nil, &abi.Error{
			Code: abi.CodeInvalidPolicy, Message: r.List[0].Message, Field: r.List[0].Field, Faults: r.List,
		}
	}
	doc.Normal = doc.normal()
	doc.Digest = digest(doc.Normal)
	return doc, nil
}

// digest identifies a document. It guards against mistakes, not against
// forgery, so a hash that costs the plugin nothing is enough (SHA-256 adds
// 160 KB to it).
func digest(text string) string {
	h := fnv.New128a()
	h.Write([]byte(text))
	const digits = "0123456789abcdef"
	var out []byte
	for _, b := range h.Sum(nil) {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

// reader reads a document and collects its faults.
type reader struct {
	strictjson.Faults
}

func (r *reader) document(v strictjson.Value) *Document {
	m := r.Members(v, "")
	m.Require("version")
	if n, ok := m.Int("version", 0, strictjson.MaxInteger); ok && n != DocumentVersion {
		m.Fault("version", "expected 1, the only version there is so far")
	}
	doc := &Document{Name: m.String("name"), Description: m.String("description")}
	if !validName(doc.Name) {
		m.Fault("name", "expected a name of letters, digits, - and _, not "+strictjson.Quote(doc.Name))
	}
	for i, item := range m.Array("measured") {
		doc.Measured = append(doc.Measured, r.measured(item, strictjson.Index("measured", i)))
	}
	doc.KeepColours = m.OneOf("colours", "removed", "kept") == "kept"
	doc.Account = m.OneOf("account", "members", "command_outcome") == "command_outcome"
	r.budgets(doc, m.Require("budgets"))
	r.rules(doc, m)
	m.End()
	return doc
}

func validName(s string) bool {
	for _, c := range []byte(s) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func (r *reader) measured(v strictjson.Value, path string) Measured {
	m := r.Members(v, path)
	out := Measured{
		Name:     m.String("name"),
		Duration: r.duration(m, "duration", required),
		Down:     m.String("down"),
		Up:       m.String("up"),
		Source:   m.String("source"),
	}
	m.End()
	return out
}

// need says whether a duration must be given.
type need bool

const (
	required need = true
	optional need = false
)

// duration is a member that must be a positive duration, 0 where it is missing
// or at fault.
func (r *reader) duration(m *strictjson.Members, name string, n need) int64 {
	v := m.Value(name)
	if v.Kind == strictjson.Missing {
		if n == required {
			m.Fault(name, "is missing")
		}
		return 0
	}
	micros, ok := int64(0), false
	if v.Kind == strictjson.String {
		micros, ok = parseDuration(v.Text)
	}
	if !ok || micros == 0 {
		m.Fault(name, `expected a positive duration with a unit, such as "150s" or "500ms", not `+show(v))
		return 0
	}
	return micros
}

func show(v strictjson.Value) string {
	switch v.Kind {
	case strictjson.String:
		return strictjson.Quote(v.Text)
	case strictjson.Number:
		return v.Text
	}
	return v.Kind.String()
}

// fraction is a member in millionths between low and high, or the default.
func (r *reader) fraction(m *strictjson.Members, name string, low, high, missing int64) int64 {
	v := m.Value(name)
	if v.Kind == strictjson.Missing {
		return missing
	}
	n, exact := int64(0), false
	if v.Kind == strictjson.Number {
		n, exact = strictjson.Scaled(v.Text, 6)
	}
	if !exact || n < low || n > high {
		m.Fault(name, "expected a number from "+decimalOf(low, 6)+" to "+decimalOf(high, 6)+
			" with at most 6 decimals, not "+show(v))
		return missing
	}
	return n
}

func (r *reader) budgets(doc *Document, v strictjson.Value) {
	if v.Kind == strictjson.Missing {
		return
	}
	m := r.Members(v, "budgets")
	if len(v.Names) > maxBudgets {
		r.Add("budgets", "has more than 12 budgets")
	}
	for _, name := range v.Names {
		if !validName(name) {
			m.Fault(name, "expected a name of letters, digits, - and _")
		}
		doc.Budgets = append(doc.Budgets, r.budget(name, m.Value(name), m.Path(name)))
	}
	m.End()
}

func (r *reader) budget(name string, v strictjson.Value, path string) Budget {
	m := r.Members(v, path)
	b := Budget{Name: name, Broken: -1, MaxWait: r.duration(m, "max_wait", optional)}
	b.Attempts, _ = m.Int("attempts", 1, maxAttempts)
	if m.Has("max_wait") == m.Has("attempts") {
		r.Add(path, "expected either max_wait or attempts: one limit decides")
	}
	if m.Has("max_wait") {
		b.Windows, _ = m.Int("windows", 1, maxAttempts)
		if n, ok := m.Int("broken_connections", 0, maxAttempts); ok {
			b.Broken = n
		}
		if wake := m.Value("wake"); wake.Kind != strictjson.Missing {
			b.Wake = r.wake(wake, m.Path("wake"))
		}
	}
	b.Backoff = r.backoff(m.Require("backoff"), m.Path("backoff"))
	b.CallBudget = CallBudget(m.OneOf("call_budget",
		string(CallClamp), string(CallIgnore), string(CallStopAbove), string(CallStopAt)))
	if after := m.Value("retry_after"); after.Kind != strictjson.Missing {
		am := r.Members(after, m.Path("retry_after"))
		b.RetryAfter = &RetryAfter{
			Max:    r.duration(am, "max", optional),
			Jitter: r.fraction(am, "jitter", 0, million, 0),
			Floor:  am.OneOf("floor", "none", "backoff") == "backoff",
		}
		am.End()
	}
	m.End()
	return b
}

func (r *reader) wake(v strictjson.Value, path string) *WakeRule {
	m := r.Members(v, path)
	w := &WakeRule{
		Reads:   abi.Readiness(m.OneOf("reads", "", string(abi.Accepting), string(abi.Ready))),
		Writes:  abi.Readiness(m.OneOf("writes", "", string(abi.Ready))),
		Spread:  r.duration(m, "spread", required),
		HoldOff: r.duration(m, "hold_off", required),
	}
	m.Require("max_vain")
	w.MaxVain, _ = m.Int("max_vain", 1, maxAttempts)
	m.End()
	return w
}
