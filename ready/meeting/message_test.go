package meeting

import (
	"strings"
	"testing"
)

var lines = []string{
	"ask", "full", "go 7", "done 7 answered", "done 0 failed", "done 2147483647 left", "wait 0 ready down eager",
	"wait 2147483647 accepting unseen seldom", "here down 5000000", "here ready 4503599627370496", "turn 3 ready 1", "turn 3 accepting 0",
}

func TestLines(t *testing.T) {
	for _, line := range lines {
		if words, err := Parse(line); err != nil || strings.Join(words, " ") != line {
			t.Errorf("%s: %q, %v", line, words, err)
		}
	}
	for _, bad := range []string{
		"", " ", "ask ", " ask", "ASK", "ask\r", "ask 1", "go", "go ", "go -1", "go +1", "go 01", "go 2147483648", "go 1 2", "go  1",
		"done 1 well", "wait 1 ready down", "wait 1 loading down eager", "wait 1 ready healthy eager", "turn 1 down 5", "turn 1 ready",
		"here down 1.5", "here", "here 5", "here unseen 5", "here down 4503599627370497", "here down 99999999999999999999", "here down 0x1", "look 1", "full 1",
	} {
		if words, err := Parse(bad); err == nil {
			t.Errorf("%q: %q", bad, words)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := Parse(line); err == nil && (len(line) >= MaxLine || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' })) {
			t.Errorf("%q", line)
		}
	})
}
