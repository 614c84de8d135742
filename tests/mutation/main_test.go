package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Every mutant of this very source was found out.
func TestProved(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	want, err := digest(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, proofFile))
	if err != nil || string(got) != want {
		t.Error("the policy or its tests have changed since the mutants were tried: run go run ./tests/mutation, and commit", proofFile)
	}
}

// Each mutant can be made: the text that it replaces is there, once.
func TestEveryMutantApplies(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range mutants {
		if _, err := m.apply(root); err != nil {
			t.Errorf("%s: %v", m.title(), err)
		}
		if seen[m.title()] {
			t.Errorf("%s is there twice", m.title())
		}
		seen[m.title()] = true
	}
	if len(mutants) < 50 {
		t.Errorf("only %d mutants", len(mutants))
	}
}

func TestModuleRoot(t *testing.T) {
	want, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := moduleRoot(); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestChoose(t *testing.T) {
	if got := choose(""); len(got) != len(mutants) {
		t.Errorf("%d of %d", len(got), len(mutants))
	}
	if got := choose("Retry-After is slept"); len(got) != 1 || got[0].file != omnigraph {
		t.Errorf("got %d mutants", len(got))
	}
}

const document = "[\n    {\n      \"kind\": \"a\",\n      \"n\": 1\n    },\n    {\n      \"kind\": \"b\"\n    },\n    {\n      \"kind\": \"a\",\n      \"n\": 2\n    },\n]"

func TestMove(t *testing.T) {
	for _, c := range []struct{ kind, before, want string }{
		{"b", "a", "[\n    {\n      \"kind\": \"b\"\n    },\n    {\n      \"kind\": \"a\",\n      \"n\": 1\n    },\n    {\n      \"kind\": \"a\",\n      \"n\": 2\n    },\n]"},
		{"a 2", "b", "[\n    {\n      \"kind\": \"a\",\n      \"n\": 1\n    },\n    {\n      \"kind\": \"a\",\n      \"n\": 2\n    },\n    {\n      \"kind\": \"b\"\n    },\n]"},
	} {
		m := move("x.json", c.kind, c.before, "")
		if got, err := m.edit(document); err != nil || got != c.want {
			t.Errorf("%s before %s: %v\n%s", c.kind, c.before, err, got)
		}
	}
	for _, c := range [][2]string{{"a", "b"}, {"c", "a"}, {"b", "c"}, {"b 2", "a"}} {
		m := move("x.json", c[0], c[1], "")
		if got, err := m.edit(document); err == nil {
			t.Errorf("%s before %s: %s", c[0], c[1], got)
		}
	}
}

func TestReplaceWantsItsTextOnce(t *testing.T) {
	for text, ok := range map[string]bool{"a": true, "": false, "aa": false, "ba": true} {
		m := replace("x", "a", "b", "")
		if _, err := m.edit(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
