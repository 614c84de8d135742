// Package strictjson reads JSON the way the contract wants it read: names are
// case-sensitive, and unknown members, repeated members, trailing data,
// malformed UTF-8 and oversized or deeply nested input are errors that name
// the field. encoding/json lets the first three pass in silence, and costs the
// plugin close to a megabyte; RATIONALE.md has the figures.
package strictjson

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of a JSON value. The zero Kind is Missing: no value at all.
const (
	Missing Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "nothing"
}

// Value is one parsed JSON value. Its strings may share memory with the text
// that it was parsed from.
type Value struct {
	Kind  Kind
	Truth bool     // of a Bool
	Text  string   // of a String: its value; of a Number: its literal
	Items []Value  // of an Array, or an Object's member values
	Names []string // of an Object, beside Items
}

// Limits bound what Parse accepts, before it builds anything.
type Limits struct {
	Bytes int // longest text, in bytes
	Depth int // deepest nesting of arrays and objects
}

// SyntaxError says where a text stopped being the JSON that Parse accepts.
type SyntaxError struct {
	Offset  int // in bytes from the start
	Message string
}

func (e *SyntaxError) Error() string {
	return e.Message + " at byte " + itoa(int64(e.Offset))
}

// Parse reads one JSON value and nothing after it.
// Every error is a *SyntaxError.
func Parse(text string, limits Limits) (Value, error) {
	p := parser{text: text, limits: limits}
	if len(text) > limits.Bytes {
		p.tooLong()
		return Value{}, p.err
	}
	p.space()
	v := p.value(0)
	p.end()
	if p.err != nil {
		return Value{}, p.err
	}
	return v, nil
}

func (p *parser) tooLong() {
	p.pos = p.limits.Bytes
	p.fail("longer than the " + itoa(int64(p.limits.Bytes)) + " bytes allowed")
}

func (p *parser) tooDeep() {
	p.fail("nested deeper than " + itoa(int64(p.limits.Depth)) + " levels")
}

// end expects nothing more.
func (p *parser) end() {
	p.space()
	if p.pos < len(p.text) {
		p.fail("unexpected data after the value")
	}
}

// parser reads a text once, from its start to its end. What the arrays and
// objects that are still open have so far is on two stacks; a value that is
// complete gets memory of exactly its size. Its loops are written out, since
// the plugin is built without inlining here.
type parser struct {
	text   string
	pos    int
	limits Limits
	err    *SyntaxError
	items  stack[Value]
	names  stack[string]
}

// fail records the first error and moves to the end, so that every loop stops.
func (p *parser) fail(message string) {
	if p.err == nil {
		p.err = &SyntaxError{p.pos, message}
	}
	p.pos = len(p.text)
}

func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) space() {
	i := p.pos
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t' || p.text[i] == '\n' || p.text[i] == '\r') {
		i++
	}
	p.pos = i
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] <= ' ' {
		p.space()
	}
	if p.pos >= len(p.text) || p.text[p.pos] != c {
		return false
	}
	p.pos++
	return true
}

// more says whether an array or object goes on with a comma. It ends with its
// end, or with a fault.
func (p *parser) more(end byte, fault string) bool {
	switch {
	case p.take(','):
		p.space()
		return true
	case !p.take(end):
		p.fail(fault)
	}
	return false
}

// value reads a value inside of depth arrays and objects.
func (p *parser) value(depth int) Value {
	switch c := p.peek(); {
	case c == '"':
		return Value{Kind: String, Text: p.str()}
	case p.pos >= len(p.text):
		p.fail("the value ends too early")
	case (c == '{' || c == '[') && depth >= p.limits.Depth:
		p.tooDeep()
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case p.word("true"):
		return Value{Kind: Bool, Truth: true}
	case p.word("false"):
		return Value{Kind: Bool}
	case p.word("null"):
		return Value{Kind: Null}
	default:
		p.fail("not a JSON value")
	}
	return Value{}
}

func (p *parser) word(w string) bool {
	if !strings.HasPrefix(p.text[p.pos:], w) {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) array(depth int) Value {
	p.pos++
	if p.take(']') {
		return Value{Kind: Array}
	}
	p.space()
	start := p.items.mark()
	for more := true; more; more = p.more(']', "expected , or ] in an array") {
		p.items.push(p.value(depth + 1))
	}
	return Value{Kind: Array, Items: p.items.take(start)}
}

// manyMembers is where a map finds a repeated name faster than a scan (a choice).
const manyMembers = 32

func (p *parser) object(depth int) Value {
	p.pos++
	if p.take('}') {
		return Value{Kind: Object}
	}
	p.space()
	start, first := p.items.mark(), p.names.mark()
	var seen map[string]bool
	for more := true; more; more = p.more('}', "expected , or } in an object") {
		name := p.name(p.names.since(first), seen)
		p.names.push(name)
		p.items.push(p.value(depth + 1))
		if seen != nil {
			seen[name] = true
		} else if names := p.names.since(first); len(names) == manyMembers {
			seen = make(map[string]bool, 2*manyMembers)
			for _, n := range names {
				seen[n] = true
			}
		}
	}
	return Value{Kind: Object, Items: p.items.take(start), Names: p.names.take(first)}
}

// name reads a member's name, which none of the names before may be, and goes
// on to its value.
func (p *parser) name(before []string, seen map[string]bool) string {
	if p.peek() != '"' {
		p.fail("expected a member's name")
		return ""
	}
	start := p.pos
	name := p.str()
	if repeated(before, seen, name) {
		p.pos = start
		p.repeated(name)
	}
	p.colon()
	return name
}

// colon passes over what stands between a member's name and its value.
func (p *parser) colon() {
	if !p.take(':') {
		p.fail("expected : after a member's name")
	}
	p.space()
}

func (p *parser) repeated(name string) {
	p.fail("member " + Quote(name) + " is repeated")
}

func repeated(names []string, seen map[string]bool, name string) bool {
	if seen != nil {
		return seen[name]
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (p *parser) number() Value {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	switch {
	case p.peek() == '0':
		p.pos++
	case p.digits() == 0:
		p.fail("a number without digits")
		return Value{}
	}
	if p.peek() == '.' {
		p.pos++
		if p.digits() == 0 {
			p.fail("a number without digits after its point")
			return Value{}
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			p.fail("a number without digits in its exponent")
			return Value{}
		}
	}
	return Value{Kind: Number, Text: p.text[start:p.pos]}
}

func (p *parser) digits() int {
	i := p.pos
	for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
		i++
	}
	n := i - p.pos
	p.pos = i
	return n
}

// str reads a string. One without escapes is returned as part of the text.
func (p *parser) str() string {
	p.pos++
	start := p.pos
	for {
		p.pos = plain(p.text, p.pos)
		if p.pos >= len(p.text) {
			p.fail("a string without an end")
			return ""
		}
		switch p.text[p.pos] {
		case '"':
			s := p.text[start:p.pos]
			p.pos++
			return s
		case '\\':
			return p.escaped(start)
		}
		p.other()
	}
}

// other passes over one character that is neither plain nor an escape.
func (p *parser) other() {
	switch c := p.text[p.pos]; {
	case c < ' ':
		p.fail("a control character in a string")
	case c < utf8.RuneSelf:
		p.pos++
	default:
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if r == utf8.RuneError && size == 1 {
			p.fail("malformed UTF-8 in a string")
			return
		}
		p.pos += size
	}
}

// escaped reads a string whose first escape has been reached.
func (p *parser) escaped(start int) string {
	// Most strings end at the next quote; what escapes stand for is shorter.
	size := p.pos - start + 64
	if next := strings.IndexByte(p.text[p.pos:], '"'); next >= 0 {
		size += next
	}
	buf := append(make([]byte, 0, size), p.text[start:p.pos]...)
	for p.pos < len(p.text) {
		from := p.pos
		switch p.text[from] {
		case '"':
			p.pos++
			return string(buf)
		case '\\':
			buf = p.escape(buf)
			from = p.pos
		default:
			p.other()
		}
		if p.err != nil {
			return ""
		}
		p.pos = plain(p.text, p.pos)
		buf = append(buf, p.text[from:p.pos]...)
	}
	p.fail("a string without an end")
	return ""
}

func (p *parser) escape(buf []byte) []byte {
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(buf, c)
	case 'b':
		return append(buf, '\b')
	case 'f':
		return append(buf, '\f')
	case 'n':
		return append(buf, '\n')
	case 'r':
		return append(buf, '\r')
	case 't':
		return append(buf, '\t')
	case 'u':
		return utf8.AppendRune(buf, p.unicode())
	}
	p.pos -= 2
	p.fail("an unknown escape in a string")
	return buf
}

// unicode reads what follows \u. Half of a surrogate pair becomes U+FFFD, as
// encoding/json has it: a host may have met bytes that are no UTF-8.
func (p *parser) unicode() rune {
	r := p.hex4()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if strings.HasPrefix(p.text[p.pos:], `\u`) {
		back := p.pos
		p.pos += 2
		if pair := utf16.DecodeRune(r, p.hex4()); pair != utf8.RuneError {
			return pair
		}
		if p.err == nil {
			p.pos = back
		}
	}
	return utf8.RuneError
}

func (p *parser) hex4() rune {
	if p.pos+4 > len(p.text) {
		p.fail("a \\u escape without four digits")
		return 0
	}
	var r rune
	for _, c := range []byte(p.text[p.pos : p.pos+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			p.fail("a \\u escape without four digits")
			return 0
		}
	}
	p.pos += 4
	return r
}
