package plainyaml

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"# nothing\n":               "",
		"a: b":                      "",
		"a: {b: [c]}\n":             "",
		"a: &x b":                   "line 1: \"&\" is an anchor, an alias, a tag or a directive",
		"\na: *x":                   "line 2: \"*\" is an anchor",
		"a: !!str b":                "an anchor, an alias, a tag or a directive",
		"%YAML 1.2\n---\na: b":      "an anchor, an alias, a tag or a directive",
		"a: b\n---\nc: d":           "line 3: a second document",
		"a: [b\nc: }":               "line ",
		strings.Repeat("[", 9):      "line 1: too many brackets",
		strings.Repeat("{a: ", 9):   "line 1: too many brackets",
		"a: b\n" + "\tc: d\n" + "e": "line ",
	} {
		root, err := Parse(text)
		var fault *Fault
		if want == "" && err != nil || want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), want) || root != nil) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string]int{"a: b": 1, "{a: b, c: d}": 2, "a: 1\nb: 2\nc: 3": 3, "[a]": -1, "word": -1} {
		root, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list, ok := Members(root)
		if ok != (want >= 0) || ok && len(list) != want {
			t.Errorf("%q: %d, %t", text, len(list), ok)
		}
	}
}

// Whatever the text, there is a tree or a reason.
func FuzzParse(f *testing.F) {
	f.Add("a: {b: [c, 'd']}\n")
	f.Add("? a\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		if root, err := Parse(text); err != nil && root != nil {
			t.Errorf("%q: %v, and a tree", text, err)
		}
	})
}
