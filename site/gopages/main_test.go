package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	folder := t.TempDir()
	source := `// Package b makes things, as [example.org/m/c.Thing] and [io.EOF] are, and [T.Do].
package b

// A T is one.
type T struct{ Size int; hidden int }

// Do does it.
func (t *T) Do() { t.hidden = 7 }
`
	if err := os.WriteFile(filepath.Join(folder, "b.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := page("example.org/m", "example.org/m/a/b", folder, []string{"b.go"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"# a/b\n", "(../c.md#Thing)", "(https://pkg.go.dev/io#EOF)", "(#T.Do)",
		"## type T {#T}\n", "Size int\n", "A T is one.", "### func T.Do {#T.Do}\n", "Do does it.",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in the page:\n%s", part, got)
		}
	}
	if strings.Contains(got, "hidden int") || strings.Contains(got, "= 7") {
		t.Errorf("what is not for others is in the page:\n%s", got)
	}
}
