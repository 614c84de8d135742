package strictjson

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read parses text and hands its members to f; the faults are given back.
func read(t *testing.T, text string, f func(*Faults, *Members)) []Fault {
	t.Helper()
	v, err := Parse(text, roomy)
	if err != nil {
		t.Fatal(err)
	}
	var faults Faults
	f(&faults, faults.Members(v, "top"))
	return faults.List
}

func noFaults(t *testing.T, faults []Fault) {
	t.Helper()
	if len(faults) > 0 {
		t.Errorf("unexpected faults: %v", faults)
	}
}

func TestMembersRead(t *testing.T) {
	text := `{"s":"x","b":true,"i":5.0,"a":[1,2],"o":{"n":null},"w":"two"}`
	noFaults(t, read(t, text, func(f *Faults, m *Members) {
		if got := m.String("s"); got != "x" {
			t.Errorf("s is %q", got)
		}
		if !m.Bool("b", false) {
			t.Error("b is false")
		}
		if n, ok := m.Int("i", 5, 5); n != 5 || !ok {
			t.Errorf("i is %d, %t", n, ok)
		}
		if got := m.Array("a"); len(got) != 2 {
			t.Errorf("a is %v", got)
		}
		if v := m.Require("o"); v.Kind != Object {
			t.Errorf("o is %v", v.Kind)
		}
		if got := m.OneOf("w", "one", "two"); got != "two" {
			t.Errorf("w is %q", got)
		}
		m.End()
	}))
}

func TestMembersMissing(t *testing.T) {
	noFaults(t, read(t, `{}`, func(f *Faults, m *Members) {
		if m.String("x") != "" || m.Bool("x", false) || !m.Bool("x", true) || m.Array("x") != nil || m.Has("x") {
			t.Error("a missing member has a value")
		}
		if n, ok := m.Int("x", 1, 2); n != 0 || ok {
			t.Errorf("a missing integer is %d, %t", n, ok)
		}
		if got := m.OneOf("x", "first", "second"); got != "first" {
			t.Errorf("a missing word is %q, want the first", got)
		}
		if v := m.Value("x"); v.Kind != Missing {
			t.Errorf("a missing value is %v", v.Kind)
		}
		m.End()
	}))
}

func TestMembersFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		read       func(*Members)
		want       []Fault
	}{
		{"another kind of string", `{"x":1}`, func(m *Members) { m.String("x") },
			[]Fault{{"top.x", "expected a string, not a number"}}},
		{"null is a kind of its own", `{"x":null}`, func(m *Members) { m.String("x") },
			[]Fault{{"top.x", "expected a string, not null"}}},
		{"another kind of boolean", `{"x":"true"}`, func(m *Members) { m.Bool("x", true) },
			[]Fault{{"top.x", "expected a boolean, not a string"}}},
		{"another kind of array", `{"x":{}}`, func(m *Members) { m.Array("x") },
			[]Fault{{"top.x", "expected an array, not an object"}}},
		{"another kind of integer", `{"x":[]}`, func(m *Members) { m.Int("x", 0, 1) },
			[]Fault{{"top.x", "expected a number, not an array"}}},
		{"below the range", `{"x":0}`, func(m *Members) { m.Int("x", 1, 3) },
			[]Fault{{"top.x", "expected a whole number from 1 to 3, not 0"}}},
		{"above the range", `{"x":4}`, func(m *Members) { m.Int("x", 1, 3) },
			[]Fault{{"top.x", "expected a whole number from 1 to 3, not 4"}}},
		{"no whole number", `{"x":1.5}`, func(m *Members) { m.Int("x", 1, 3) },
			[]Fault{{"top.x", "expected a whole number from 1 to 3, not 1.5"}}},
		{"2^53 where all integers are allowed", `{"x":9007199254740992}`, func(m *Members) { m.Int("x", 0, MaxInteger) },
			[]Fault{{"top.x", "expected a whole number from 0 to 9007199254740991, not 9007199254740992"}}},
		{"-2^53", `{"x":-9007199254740992}`, func(m *Members) { m.Int("x", -MaxInteger, 0) },
			[]Fault{{"top.x", "expected a whole number from -9007199254740991 to 0, not -9007199254740992"}}},
		{"an unknown word", `{"x":"c"}`, func(m *Members) { m.OneOf("x", "a", "b") },
			[]Fault{{"top.x", `expected one of "a", "b", not "c"`}}},
		{"the word in capitals", `{"x":"A"}`, func(m *Members) { m.OneOf("x", "", "a") },
			[]Fault{{"top.x", `expected one of "a", not "A"`}}},
		{"the empty word", `{"x":""}`, func(m *Members) { m.OneOf("x", "", "a") },
			[]Fault{{"top.x", `expected one of "a", not ""`}}},
		{"a required member", `{}`, func(m *Members) { m.Require("x") },
			[]Fault{{"top.x", "is missing"}}},
		{"unknown members", `{"x":1,"X":2,"y":3}`, func(m *Members) { m.Value("x") },
			[]Fault{{"top.X", "is not a known field"}, {"top.y", "is not a known field"}}},
		{"one that was only looked for", `{"x":1}`, func(m *Members) { m.Has("x") },
			[]Fault{{"top.x", "is not a known field"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.text, func(f *Faults, m *Members) { c.read(m); m.End() })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersOfNoObject(t *testing.T) {
	for _, text := range []string{"null", "[]", `"x"`, "1", "true"} {
		got := read(t, text, func(f *Faults, m *Members) {
			if m.String("x") != "" || m.Has("x") {
				t.Errorf("%s has members", text)
			}
			m.End()
		})
		v, _ := Parse(text, roomy)
		if want := []Fault{{"top", "expected an object, not " + v.Kind.String()}}; !cmp.Equal(want, got) {
			t.Errorf("%s: faults %v, want %v", text, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	if got := Join("", "a"); got != "a" {
		t.Errorf("got %q", got)
	}
	if got := Index(Join("a", "b"), 10); got != "a.b[10]" {
		t.Errorf("got %q", got)
	}
}

func TestFaultErrors(t *testing.T) {
	var f Faults
	if f.Err() != nil {
		t.Error("no faults are an error")
	}
	f.Add("a.b", "is bad")
	f.Add("", "is worse")
	if got := f.Err().Error(); got != "a.b: is bad" {
		t.Errorf("got %q", got)
	}
	if got := f.List[1].Error(); got != "is worse" {
		t.Errorf("got %q", got)
	}
}
