package strictjson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 9, 10, -10, MaxInteger, -MaxInteger, math.MaxInt64, math.MinInt64} {
		if got := string(AppendInt([]byte("x"), n)); got != "x"+strconv.FormatInt(n, 10) {
			t.Errorf("AppendInt(%d) = %q", n, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if n := rapid.Int64().Draw(t, "n"); string(AppendInt(nil, n)) != strconv.FormatInt(n, 10) {
			t.Fatalf("AppendInt(%d) = %s", n, AppendInt(nil, n))
		}
	})
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":           `""`,
		"a\"b\\c/":   `"a\"b\\c/"`,
		"\n\r\t\x00": `"\n\u000d\u0009\u0000"`,
		"\x1b[0m":    `"\u001b[0m"`,
		"\x7f":       `"\u007f"`,
		"é𝄞\u2028":   "\"é𝄞\u2028\"",
		"\xff\xc3x":  "\"\ufffd\ufffdx\"",
	} {
		if got := Quote(s); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
	}
}

// FuzzQuote: what is written is read back, here and by encoding/json.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c\n\x00\x1f\x7f", "é𝄞\u2028\ufffd", "\xff\xed\xa0\x80", "</script>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := string([]rune(s)) // U+FFFD for each bad byte
		v, err := Parse(Quote(s), Limits{Bytes: math.MaxInt})
		if err != nil || v.Text != want {
			t.Fatalf("%q is written as %s and read as %q, %v", s, Quote(s), v.Text, err)
		}
		var back string
		if err := json.Unmarshal([]byte(Quote(s)), &back); err != nil || back != want {
			t.Fatalf("%q is written as %s, which encoding/json reads as %q, %v", s, Quote(s), back, err)
		}
	})
}

func TestWriter(t *testing.T) {
	var w Writer
	w.Open('{')
	w.StringMember("s", "x")
	w.StringMember("none", "")
	w.IntMember("i", -5)
	w.IntMember("none", 0)
	w.TrueMember("t", true)
	w.TrueMember("none", false)
	w.Name("list")
	w.Open('[')
	w.Int(1)
	w.Bool(false)
	w.Raw(`{"raw":null}`)
	w.Open('[')
	w.Close(']')
	w.Open('{')
	w.Close('}')
	w.String("end")
	w.Close(']')
	w.Name("after")
	w.Open('{')
	w.Close('}')
	w.Close('}')
	const want = `{"s":"x","i":-5,"t":true,"list":[1,false,{"raw":null},[],{},"end"],"after":{}}`
	if got := string(w.Bytes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Any value that can be written is read back the same.
func TestWriterRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawValue(t, 4)
		var w Writer
		write(&w, want)
		got, err := Parse(string(w.Bytes), Limits{Bytes: 1 << 20, Depth: 4})
		if err != nil {
			t.Fatalf("%s: %v", w.Bytes, err)
		}
		var again Writer
		write(&again, got)
		if string(again.Bytes) != string(w.Bytes) {
			t.Fatalf("%s is read as %s", w.Bytes, again.Bytes)
		}
		if !json.Valid(w.Bytes) {
			t.Fatalf("%s is no JSON", w.Bytes)
		}
	})
}

func drawValue(t *rapid.T, depth int) Value {
	kinds := []Kind{Null, Bool, Number, String, Array, Object}
	if depth == 0 {
		kinds = kinds[:4]
	}
	v := Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch v.Kind {
	case Bool:
		v.Truth = rapid.Bool().Draw(t, "truth")
	case Number:
		v.Text = strconv.FormatInt(rapid.Int64().Draw(t, "number"), 10)
	case String:
		v.Text = rapid.String().Draw(t, "text")
	case Array, Object:
		for i := range rapid.IntRange(0, 3).Draw(t, "length") {
			if v.Kind == Object {
				v.Names = append(v.Names, strings.Repeat("é\"", i)+rapid.String().Draw(t, "name")+strconv.Itoa(i))
			}
			v.Items = append(v.Items, drawValue(t, depth-1))
		}
	}
	return v
}

func write(w *Writer, v Value) {
	switch v.Kind {
	case Null:
		w.Raw("null")
	case Bool:
		w.Bool(v.Truth)
	case Number:
		w.Raw(v.Text)
	case String:
		w.String(v.Text)
	case Array:
		w.Open('[')
		for _, item := range v.Items {
			write(w, item)
		}
		w.Close(']')
	case Object:
		w.Open('{')
		for i, name := range v.Names {
			w.Name(name)
			write(w, v.Items[i])
		}
		w.Close('}')
	}
}
