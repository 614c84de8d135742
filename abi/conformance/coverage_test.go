package conformance

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/abi/vectors"
	"outlast/plugin/policy"
)

// words are the contract's constants that are strings, by their Go names.
func words(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			ast.Inspect(file, func(n ast.Node) bool { return addStrings(t, out, n) })
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d constants found", len(out))
	}
	return out
}

// addStrings adds the exported strings that a declaration gives values to.
func addStrings(t *testing.T, out map[string]string, n ast.Node) (further bool) {
	t.Helper()
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return true
	}
	for i, value := range spec.Values {
		literal, ok := value.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || !spec.Names[i].IsExported() {
			continue
		}
		word, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		out[spec.Names[i].Name] = word
	}
	return true
}

// Every word of the contract and every kind of the built-in policies is in some
// case, so that no part of it goes untested.
func TestCasesCoverTheContract(t *testing.T) {
	files, err := fs.Glob(vectors.Files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, name := range files {
		text, err := vectors.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	// These do not stand in cases: what the runner writes itself, and what no
	// input brings about.
	without := []string{"ExportMarker", "UserModule", "CodeInternal", "Release", "Attempted", "Repaired", "WaitFull", "WaitWoken", "WaitDown", "WaitNotReady", "WaitCancelled"}
	for name, word := range words(t) {
		if !strings.Contains(all, strconv.Quote(word)) && !slices.Contains(without, name) {
			t.Errorf("no case has %s, %q", name, word)
		}
	}
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range doc.Rules {
			if !strings.Contains(all, `"kind": `+strconv.Quote(rule.Kind)) {
				t.Errorf("no case has the kind %q of %s", rule.Kind, name)
			}
		}
	}
}

// Every kind of a built-in policy goes every way that it can go in some case, or
// it would be one that nobody has tried.
func TestCasesGoEveryWay(t *testing.T) {
	cases, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[string]bool{}
		for i := range cases {
			if string(cases[i].Policy) == strconv.Quote(name) {
				for _, step := range cases[i].Steps {
					note(t, taken, &step)
				}
			}
		}
		for _, rule := range doc.Rules {
			for _, branch := range rule.Then {
				end := rule.Kind + " stops"
				if branch.Retry >= 0 {
					end = rule.Kind + " retries on " + doc.Budgets[branch.Retry].Name
				}
				if !taken[end] {
					t.Errorf("%s: no case in which %s", name, end)
				}
			}
		}
	}
}

// note remembers which way a step went.
func note(t *testing.T, taken map[string]bool, step *Step) {
	t.Helper()
	var a struct {
		Type, Kind, Budget string
		Outcome            struct{ Type, Reason string }
	}
	if step.Want == nil {
		return
	}
	if err := json.Unmarshal(step.Want, &a); err != nil {
		t.Fatal(err)
	}
	switch {
	case a.Type == string(abi.Retry):
		taken[a.Kind+" retries on "+a.Budget] = true
	case a.Outcome.Type != string(abi.OutcomeOK) && a.Outcome.Reason == "":
		taken[a.Kind+" stops"] = true
	}
}
