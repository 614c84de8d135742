package fields_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// sample has a field of every kind.
type sample struct {
	Text    string  `json:"text,omitempty"`
	Word    string  `json:"word,omitempty"`
	Flag    bool    `json:"flag,omitempty"`
	Maybe   *bool   `json:"maybe,omitempty"`
	Number  int64   `json:"number"`
	Perhaps *int64  `json:"perhaps,omitempty"`
	Part    part    `json:"part"`
	Other   *part   `json:"other,omitempty"`
	List    []part  `json:"list,omitempty"`
	Either  bool    `json:"-"`
	On      bool    `json:"-"` // true where it is missing
	Bound   int64   `json:"-"` // -1 where it is missing
	Hidden  string  `json:"-"` // never written
	Form    backway `json:"-"`
}

type part struct {
	Name string `json:"name"`
}

// backway is a text that is written backwards.
type backway string

var (
	sampleWords = []string{"", "one", "two"}
	eitherWords = []string{"off", "on"}
)

func (s *sample) Fields(f *fields.List) {
	f.String("text", &s.Text, 10).Says("a text").Default("none").Since("1.1")
	f.Word("word", &s.Word, sampleWords)
	f.Flag("flag", &s.Flag)
	f.OptionalFlag("maybe", &s.Maybe)
	f.Int("number", &s.Number, -5, 1000).Required().Because("one counts")
	f.OptionalInt("perhaps", &s.Perhaps, 0, fields.Most)
	f.Message("part", &s.Part)
	fields.Optional(f, "other", &s.Other)
	fields.Items(f, "list", &s.List).Between(0, 3, "expected at most 3")
	f.Either("either", &s.Either, eitherWords)
	f.Flag("on", &s.On).Otherwise(true)
	f.Int("bound", &s.Bound, 0, 9).Missing(-1)
	f.String("hidden", &s.Hidden, 0).OmitIf(true)
	f.Add("form", &s.Form)
}

func (s *sample) Check(c *fields.Checked) {
	if c.Has("maybe") && c.Has("perhaps") {
		c.Fault("perhaps", "does not go with maybe")
	}
	if c.Empty() {
		c.Fault("", "is empty")
	}
}

func (p *part) Fields(f *fields.List) { f.String("name", &p.Name, 0).Required() }

func (b *backway) Read(r *fields.Reader) {
	if r.Expect(strictjson.String) {
		*b = backway(turned(r.In.String()))
	}
}
func (b *backway) Write(w *fields.Writer)   { w.String(turned(string(*b))) }
func (b *backway) IsDefault() bool          { return *b == "" }
func (b *backway) Clear()                   { *b = "" }
func (b *backway) Describe(a *fields.About) { a.Kind = "backway" }

func turned(s string) string {
	var out []rune
	for _, r := range s {
		out = append([]rune{r}, out...)
	}
	return string(out)
}

var limits = strictjson.Limits{Bytes: 1 << 20, Depth: 8}

func read(t testing.TB, text string, open fields.Openness) (s sample, faults []string) {
	t.Helper()
	list, err := fields.Read(text, limits, open, &s)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, f := range list {
		faults = append(faults, f.Error())
	}
	return s, faults
}

// draw is any message whose fields are within their bounds.
func draw(t *rapid.T) sample {
	flag := rapid.Bool()
	text := func(name string) string { return rapid.StringN(0, 8, 10).Draw(t, name) }
	aPart := rapid.Custom(func(t *rapid.T) part { return part{rapid.String().Draw(t, "name")} })
	return sample{
		Text: text("text"), Word: rapid.SampledFrom(sampleWords).Draw(t, "word"), Flag: flag.Draw(t, "flag"),
		Maybe: rapid.Ptr(flag, true).Draw(t, "maybe"), Number: rapid.Int64Range(-5, 1000).Draw(t, "number"),
		Part: aPart.Draw(t, "part"), Other: rapid.Ptr(aPart, true).Draw(t, "other"),
		List: rapid.SliceOfN(aPart, 0, 3).Draw(t, "list"), Either: flag.Draw(t, "either"), On: flag.Draw(t, "on"),
		Bound: rapid.Int64Range(-1, 9).Draw(t, "bound"), Form: backway(text("form")),
	}
}

// What is written is read the same, in whatever order its members stand.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		text := string(fields.Write(&want))
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var names []string
		for name := range members {
			names = append(names, name)
		}
		var list []string
		for _, name := range rapid.Permutation(names).Draw(t, "order") {
			list = append(list, strictjson.Quote(name)+":"+string(members[name]))
		}
		for _, text := range []string{text, "{" + strings.Join(list, ", ") + "}"} {
			var got sample
			faults, err := fields.Read(text, limits, fields.Strict, &got)
			if err != nil || faults != nil {
				t.Fatalf("%s: %v, %v", text, faults, err)
			}
			if len(got.List) == 0 {
				got.List = want.List // none, or an empty one
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", text, diff)
			}
		}
	})
}

// What encoding/json writes is read, and what is written encoding/json reads.
func TestAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		want.Either, want.On, want.Bound, want.Form = false, true, -1, "" // what stands for missing
		text, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got, again sample
		faults, err := fields.Read(string(text), limits, fields.Strict, &got)
		if err != nil || faults != nil {
			t.Fatalf("%s: %v, %v", text, faults, err)
		}
		if err := json.Unmarshal(fields.Write(&want), &again); err != nil {
			t.Fatal(err)
		}
		again.On, again.Bound = true, -1
		if len(want.List) == 0 {
			want.List, got.List, again.List = nil, nil, nil
		}
		if !reflect.DeepEqual(want, got) || !reflect.DeepEqual(want, again) {
			t.Fatalf("%s:\n%s%s", text, cmp.Diff(want, got), cmp.Diff(want, again))
		}
	})
}

func TestFaults(t *testing.T) {
	const rest = `"number":1,"part":{"name":"p"}`
	for _, c := range []struct {
		text         string
		strict, open []string
	}{
		{`{` + rest + `}`, nil, nil},
		{`{}`, []string{"number: is missing: one counts", "is empty"}, []string{"number: is missing: one counts", "is empty"}},
		{`[]`, []string{"expected an object, not an array"}, []string{"expected an object, not an array"}},
		{`{` + rest + `,"text":"12345678901"}`, []string{"text: is longer than 10 bytes"}, []string{"text: is longer than 10 bytes"}},
		{`{` + rest + `,"word":"three"}`, []string{`word: expected one of "one", "two", not "three"`}, nil},
		{`{` + rest + `,"word":""}`, []string{`word: expected one of "one", "two", not ""`}, nil},
		{`{` + rest + `,"either":"on"}`, nil, nil},
		{`{` + rest + `,"either":true}`, []string{"either: expected a string, not a boolean"}, []string{"either: expected a string, not a boolean"}},
		{`{"number":1001,"list":[{"name":"a"},{},{"name":5}]}`,
			[]string{"number: expected a whole number from -5 to 1000, not 1001", "list[1].name: is missing", "list[2].name: expected a string, not a number"},
			[]string{"number: expected a whole number from -5 to 1000, not 1001", "list[1].name: is missing", "list[2].name: expected a string, not a number"}},
		{`{` + rest + `,"list":[{"name":""},{"name":""},{"name":""},{"name":""},7]}`, []string{"list: expected at most 3"}, []string{"list: expected at most 3"}},
		{`{` + rest + `,"maybe":true,"perhaps":1}`, []string{"perhaps: does not go with maybe"}, []string{"perhaps: does not go with maybe"}},
		{`{"later":{"a":[1]},` + rest + `,"Text":"x","other":{"name":"o","more":null}}`,
			[]string{"other.more: is not a known field", "later: is not a known field", "Text: is not a known field"}, nil},
		{`{"later":1}`, []string{"number: is missing: one counts", "later: is not a known field"}, []string{"number: is missing: one counts"}},
	} {
		if _, got := read(t, c.text, fields.Strict); !reflect.DeepEqual(got, c.strict) {
			t.Errorf("%s: strict:\n got %q\nwant %q", c.text, got, c.strict)
		}
		if _, got := read(t, c.text, fields.Open); !reflect.DeepEqual(got, c.open) {
			t.Errorf("%s: open:\n got %q\nwant %q", c.text, got, c.open)
		}
	}
	if s, _ := read(t, `{`+rest+`,"word":"three"}`, fields.Open); s.Word != "three" {
		t.Errorf("an open reader has the word %q", s.Word)
	}
}

// A member that is repeated is refused, known or not, open or strict.
func TestRepeatedMembers(t *testing.T) {
	for _, text := range []string{
		`{"number":1,"number":1}`, `{"number":1,"text":"a","number":2}`, `{"new":1,"number":1,"new":1}`,
		`{"list":[{"name":"a","name":"b"}]}`, `{"number":1,"n\u0075mber":1}`,
	} {
		for _, open := range []fields.Openness{fields.Strict, fields.Open} {
			var s sample
			if _, err := fields.Read(text, limits, open, &s); err == nil || !strings.Contains(err.Error(), "is repeated at byte") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// Many members that are not known take no more than their time.
func TestManyUnknownMembers(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"number":1`)
	for i := range 50_000 {
		b.WriteString(`,"` + string(strictjson.AppendInt(nil, int64(i))) + `":1`)
	}
	b.WriteString("}")
	if _, faults := read(t, b.String(), fields.Open); faults != nil {
		t.Errorf("%d faults", len(faults))
	}
}

// A value that a reader finds is replaced by what a missing member stands for.
func TestMissingMembersAreCleared(t *testing.T) {
	s := sample{Word: "one", Flag: true, Either: true, Bound: 4, Form: "x"}
	if _, err := fields.Read(`{"number":1,"part":{"name":""}}`, limits, fields.Strict, &s); err != nil {
		t.Fatal(err)
	}
	if s.Word != "" || s.Flag || s.Either || !s.On || s.Bound != -1 || s.Form != "" {
		t.Errorf("%+v", s)
	}
}

func TestDescribe(t *testing.T) {
	all := map[string]fields.About{}
	for _, a := range fields.Describe(&sample{}) {
		all[a.Name] = a
	}
	for name, kind := range map[string]string{
		"text": "string", "word": "word", "flag": "boolean", "maybe": "boolean", "number": "integer", "perhaps": "integer",
		"part": "object", "other": "object", "list": "array", "either": "word", "form": "backway", "hidden": "string",
	} {
		if all[name].Kind != kind {
			t.Errorf("%s is of kind %q, want %q", name, all[name].Kind, kind)
		}
	}
	if a := all["text"]; a.Says != "a text" || a.Default != "none" || a.Since != "1.1" || a.High != 10 || a.Required {
		t.Errorf("%+v", a)
	}
	if a := all["number"]; !a.Required || a.Low != -5 || a.High != 1000 || a.Since != "1.0" {
		t.Errorf("%+v", a)
	}
	if a := all["list"]; reflect.TypeOf(a.Of) != reflect.TypeOf(&part{}) || a.High != 3 {
		t.Errorf("%+v", a)
	}
}

// What the strict reader accepts is the JSON that strictjson accepts, and what
// it read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add(`{"number":1,"part":{"name":"p"},"list":[{"name":"a"}],"either":"on","form":"abc"}`)
	f.Add(`{"new":{"a":[1,{"b":null}]},"number":1e2,"n\u0061me":"\ud800"}`)
	f.Add(`{"number":1,"number":1}`)
	f.Add(`{"list":[{"name":"a"},]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s, again sample
		faults, err := fields.Read(text, limits, fields.Strict, &s)
		if _, wrong := strictjson.Parse(text, limits); (err == nil) != (wrong == nil) {
			t.Fatalf("%q: the reader says %v, and the parser %v", text, err, wrong)
		}
		if err != nil || faults != nil {
			return
		}
		out := string(fields.Write(&s))
		if faults, err := fields.Read(out, limits, fields.Strict, &again); faults != nil || err != nil {
			t.Fatalf("%q is written as %s: %v, %v", text, out, faults, err)
		}
		if string(fields.Write(&again)) != out {
			t.Fatalf("%q is written as %s, and then as %s", text, out, fields.Write(&again))
		}
	})
}
