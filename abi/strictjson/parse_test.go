package strictjson

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// roomy is more than any text of these tests needs.
var roomy = Limits{Bytes: 1 << 16, Depth: 40}

func TestParseValues(t *testing.T) {
	num := func(s string) Value { return Value{Kind: Number, Text: s} }
	str := func(s string) Value { return Value{Kind: String, Text: s} }
	for text, want := range map[string]Value{
		"null":                  {Kind: Null},
		" true ":                {Kind: Bool, Truth: true},
		"\t\r\nfalse\n":         {Kind: Bool},
		"0":                     num("0"),
		"-0":                    num("-0"),
		"-12.50e+07":            num("-12.50e+07"),
		"1E9":                   num("1E9"),
		`""`:                    str(""),
		`"plain"`:               str("plain"),
		`"\"\\\/\b\f\n\r\t"`:    str("\"\\/\b\f\n\r\t"),
		`"é → 𝄞"`:               str("é → 𝄞"),
		`"\u00e9 \uD834\udd1e"`: str("é 𝄞"),
		`"\ud800"`:              str("\ufffd"),
		`"\ud800x"`:             str("\ufffdx"),
		`"\ud800\u0041"`:        str("\ufffdA"),
		`"\udc00\ud800"`:        str("\ufffd\ufffd"),
		`"\u0000"`:              str("\x00"),
		"\"\x7f\"":              str("\x7f"),
		`"�"`:                   str("\ufffd"),
		"[]":                    {Kind: Array},
		"[ 1 , [ ] ]":           {Kind: Array, Items: []Value{num("1"), {Kind: Array}}},
		"{}":                    {Kind: Object},
		`{ "a" : 1 , "A" : 2 }`: {Kind: Object, Names: []string{"a", "A"}, Items: []Value{num("1"), num("2")}},
		`{"":null}`:             {Kind: Object, Names: []string{""}, Items: []Value{{Kind: Null}}},
	} {
		got, err := Parse(text, roomy)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		text    string
		message string
		offset  int
	}{
		{"", "the value ends too early", 0},
		{"  ", "the value ends too early", 2},
		{"nul", "not a JSON value", 0},
		{"True", "not a JSON value", 0},
		{"NaN", "not a JSON value", 0},
		{"+1", "not a JSON value", 0},
		{".5", "not a JSON value", 0},
		{"'a'", "not a JSON value", 0},
		{"\ufeff1", "not a JSON value", 0},
		{"\u00a01", "not a JSON value", 0},
		{"// x\n1", "not a JSON value", 0},
		{"-", "a number without digits", 1},
		{"-x", "a number without digits", 1},
		{"1.", "a number without digits after its point", 2},
		{"1.e3", "a number without digits after its point", 2},
		{"1e", "a number without digits in its exponent", 2},
		{"1e+", "a number without digits in its exponent", 3},
		{"01", "unexpected data after the value", 1},
		{"0x10", "unexpected data after the value", 1},
		{"1 2", "unexpected data after the value", 2},
		{"truex", "unexpected data after the value", 4},
		{"{}{}", "unexpected data after the value", 2},
		{"{}\x00", "unexpected data after the value", 2},
		{"[1,]", "not a JSON value", 3},
		{"[1 2]", "expected , or ] in an array", 3},
		{"[", "the value ends too early", 1},
		{"[1", "expected , or ] in an array", 2},
		{"[1,", "the value ends too early", 3},
		{`{"a":1,}`, "expected a member's name", 7},
		{`{a:1}`, "expected a member's name", 1},
		{`{1:1}`, "expected a member's name", 1},
		{`{"a" 1}`, "expected : after a member's name", 5},
		{`{"a":1 "b":2}`, "expected , or } in an object", 7},
		{`{"a":`, "the value ends too early", 5},
		{`{"a"`, "expected : after a member's name", 4},
		{`{"a":1,"a":1}`, `member "a" is repeated`, 7},
		{`{"a":1,"\u0061":1}`, `member "a" is repeated`, 7},
		{`{"x":{"a":1,"b":2,"a":3}}`, `member "a" is repeated`, 18},
		{`"a`, "a string without an end", 2},
		{`"a\`, "an unknown escape in a string", 2},
		{`"\x41"`, "an unknown escape in a string", 1},
		{`"\'"`, "an unknown escape in a string", 1},
		{`"\u12"`, "a \\u escape without four digits", 3},
		{`"\u12G4"`, "a \\u escape without four digits", 3},
		{`"\ud800\u12"`, "a \\u escape without four digits", 9},
		{`"\u`, "a \\u escape without four digits", 3},
		{"\"a\nb\"", "a control character in a string", 2},
		{"\"\\n\tb\"", "a control character in a string", 3},
		{"\"\x00\"", "a control character in a string", 1},
		{"\"a\xff\"", "malformed UTF-8 in a string", 2},
		{"\"\\n\xc3\"", "malformed UTF-8 in a string", 3},
		{"\"\xed\xa0\x80\"", "malformed UTF-8 in a string", 1},
		{"\"\xc0\xaf\"", "malformed UTF-8 in a string", 1},
	} {
		_, err := Parse(c.text, roomy)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%q): got %v, want a syntax error", c.text, err)
			continue
		}
		if syntax.Message != c.message || syntax.Offset != c.offset {
			t.Errorf("Parse(%q): got %q at %d, want %q at %d", c.text, syntax.Message, syntax.Offset, c.message, c.offset)
		}
		if want := c.message + " at byte " + itoa(int64(c.offset)); err.Error() != want {
			t.Errorf("Parse(%q): error %q, want %q", c.text, err, want)
		}
	}
}

func TestParseBoundsLength(t *testing.T) {
	if _, err := Parse("12345", Limits{Bytes: 5, Depth: 1}); err != nil {
		t.Errorf("a text as long as the limit is refused: %v", err)
	}
	// It is not JSON either: the length must be looked at first.
	_, err := Parse(strings.Repeat("\xff", 100<<20), Limits{Bytes: 5, Depth: 1})
	if err == nil || err.Error() != "longer than the 5 bytes allowed at byte 5" {
		t.Errorf("got %v", err)
	}
}

func TestParseBoundsDepth(t *testing.T) {
	nested := func(n int, inner string) string {
		return strings.Repeat(`[{"a":`, n) + inner + strings.Repeat("}]", n)
	}
	for _, c := range []struct {
		text  string
		depth int
		ok    bool
	}{
		{"1", 0, true},
		{"[]", 0, false},
		{"{}", 0, false},
		{"[]", 1, true},
		{"[1]", 1, true},
		{"[[]]", 1, false},
		{"[{}]", 1, false},
		{`{"a":[]}`, 1, false},
		{"[[]]", 2, true},
		{nested(16, "1"), 32, true},
		{nested(16, `""`), 31, false},
		{nested(16, "[]"), 32, false},
		{strings.Repeat("[", 60000), 32, false},
	} {
		_, err := Parse(c.text, Limits{Bytes: 1 << 16, Depth: c.depth})
		if (err == nil) != c.ok {
			t.Errorf("Parse(%.40q) to depth %d: %v", c.text, c.depth, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "nested deeper than ") {
			t.Errorf("Parse(%.40q) to depth %d: another error: %v", c.text, c.depth, err)
		}
	}
}

// A repeated name is found on both sides of the number of members where a map
// takes over from the scan.
func TestParseFindsRepeatsInLargeObjects(t *testing.T) {
	for n := manyMembers - 2; n <= manyMembers+2; n++ {
		for _, repeat := range []int{0, n / 2, n - 1} {
			var members []string
			for i := range n {
				members = append(members, Quote("m"+itoa(int64(i)))+":0")
			}
			text := "{" + strings.Join(members, ",")
			if _, err := Parse(text+"}", roomy); err != nil {
				t.Fatalf("%d members: %v", n, err)
			}
			again := Quote("m" + itoa(int64(repeat)))
			if _, err := Parse(text+","+again+":0}", roomy); err == nil || !strings.Contains(err.Error(), again+" is repeated") {
				t.Errorf("%d members and number %d again: %v", n, repeat, err)
			}
		}
	}
}

func TestKindString(t *testing.T) {
	want := []string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}
	for k := Missing; k <= Object; k++ {
		if k.String() != want[k] {
			t.Errorf("kind %d is %q, want %q", k, k, want[k])
		}
	}
}

// FuzzParse holds Parse against encoding/json: what is accepted means the same
// there, and what is refused either is refused there too, or breaks one of the
// rules that encoding/json does not have.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,"x\u00e9\ud834\udd1e",true,false,null,{}]}`, `{"a":1,"a":2}`, `[1,]`, "\"\xff\"", `"\ud800\u0041"`,
		"[[[[[[]]]]]]", `{"":""}`, "01", "1e400", `{"\ud800":1,"\udfff":2}`, `[0.0,-0,1E-7]`, " \n", `"\/"`,
		strings.Repeat("[", 50),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text, roomy)
		shape := inspect(text)
		if err == nil {
			if !shape.valid {
				t.Fatalf("Parse accepts %q, which is not JSON", text)
			}
			var want any
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatalf("Parse accepts %q, encoding/json says %v", text, err)
			}
			if !reflect.DeepEqual(toAny(got), want) {
				t.Fatalf("%q is %#v, encoding/json says %#v", text, toAny(got), want)
			}
			return
		}
		if shape.valid && !shape.repeats && utf8.ValidString(text) && len(text) <= roomy.Bytes && shape.depth <= roomy.Depth {
			t.Fatalf("Parse refuses %q: %v", text, err)
		}
	})
}

// shape is what encoding/json finds in a text.
type shape struct {
	valid   bool
	repeats bool // a name stands twice in one object
	depth   int
}

func inspect(text string) shape {
	s := shape{valid: json.Valid([]byte(text))}
	if !s.valid {
		return s
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil in an array
		value bool            // a member's value comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return s
		}
		if len(open) > 0 && token != json.Delim('}') && token != json.Delim(']') {
			if top := &open[len(open)-1]; top.names != nil && !top.value {
				name := token.(string)
				s.repeats = s.repeats || top.names[name]
				top.names[name], top.value = true, true
				continue
			} else {
				top.value = false
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		s.depth = max(s.depth, len(open))
	}
}

// toAny is v as encoding/json would decode it into an empty interface.
func toAny(v Value) any {
	switch v.Kind {
	case Bool:
		return v.Truth
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case Array:
		list := []any{}
		for _, item := range v.Items {
			list = append(list, toAny(item))
		}
		return list
	case Object:
		m := map[string]any{}
		for i, name := range v.Names {
			m[name] = toAny(v.Items[i])
		}
		return m
	}
	return nil
}
