// Package recipetest compares the recipes of the docs with those that tests run.
package recipetest

import (
	"os"
	"strings"
	"testing"
)

// IsThePages says whether a page has what stands in a file from the line
// "// begin recipe" to "// end recipe", without their indentation.
func IsThePages(t *testing.T, file, page string) {
	t.Helper()
	here, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(here), "// begin recipe\n")
	recipe, _, ends := strings.Cut(rest, "// end recipe\n")
	if !begins || !ends {
		t.Fatalf("%s has no recipe", file)
	}
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	recipe = strings.TrimSpace(strings.ReplaceAll("\n"+recipe, "\n"+indent, "\n"))
	if !strings.Contains(string(text), "```go\n"+recipe+"\n```\n") {
		t.Errorf("%s has another recipe than\n%s", page, recipe)
	}
}
