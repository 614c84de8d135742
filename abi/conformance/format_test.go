package conformance

import (
	"io/fs"
	"strings"
	"testing"

	"outlast/abi/vectors"
)

func TestCasesAreInTheirForm(t *testing.T) {
	files, err := fs.Glob(vectors.Files, "*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	for _, name := range files {
		text, err := vectors.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := Format(text)
		if err != nil {
			t.Fatal(err)
		}
		if string(formatted) != string(text) {
			t.Errorf("%s is not as Format would write it", name)
		}
	}
}

func TestFormat(t *testing.T) {
	long := strings.Repeat("x", width)
	for text, want := range map[string]string{
		`{"b":1e3,"a":[1,true,null,{}]}`: "{\"b\": 1e3, \"a\": [1, true, null, {}]}\n",
		`["` + long + `",[]]`:            "[\n  \"" + long + "\",\n  []\n]\n",
		`{"n":{"a":"` + long + `"}}`:     "{\n  \"n\": {\n    \"a\": \"" + long + "\"\n  }\n}\n",
		`"\"\\\n\u001b\ufffdé\u2028 𝄞"`:  "\"\\\"\\\\\\n\\u001b\\ufffdé\\u2028 𝄞\"\n",
	} {
		got, err := Format([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: want\n%s\ngot\n%s", text, want, got)
		}
		again, err := Format(got)
		if err != nil || string(again) != want {
			t.Errorf("its own form changes: %s, %v", again, err)
		}
	}
	if _, err := Format([]byte("{")); err == nil {
		t.Error("half an object is accepted")
	}
}

// Its form is its own form, and means the same.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,"\u0085"]`, `{"a":{"b":[null,true,-1.5e-3]}}`, `"` + strings.Repeat("ab ", width) + `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := Format([]byte(text))
		if err != nil {
			return
		}
		twice, err := Format(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q becomes %q and then %q (%v)", text, once, twice, err)
		}
		if _, err := decoded([]byte(text)); err != nil {
			return // a number that is too large for Go
		}
		if problems := same("value", []byte(text), once); problems != nil {
			t.Fatalf("%q: %s", text, problems)
		}
	})
}
