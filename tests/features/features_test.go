package main

import (
	"os"
	"strings"
	"testing"
)

// The page has what the programs print. A cell that its library's next version changes
// is told of here.
func TestThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("the libraries wait in real time")
	}
	if lack := lacking(); lack != "" {
		t.Skip(lack)
	}
	page, err := os.ReadFile("../../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	table, err := run()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(table, "not tried") {
		t.Errorf("a row has no cell of a library:\n%s", table)
	}
	for line := range strings.Lines(table) {
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/comparison.md lacks\n%s", line)
		}
	}
}
