package meeting

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// protocol is what every language reads alike.
func protocol(t testing.TB) (cases struct{ Lines, None []string }) {
	text, err := os.ReadFile("testdata/protocol.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases.Lines) == 0 || len(cases.None) == 0 {
		t.Fatal(err)
	}
	return cases
}

func TestLines(t *testing.T) {
	cases := protocol(t)
	for _, line := range cases.Lines {
		if words, err := Parse(line); err != nil || strings.Join(words, " ") != line {
			t.Errorf("%s: %q, %v", line, words, err)
		}
	}
	for _, line := range cases.None {
		if words, err := Parse(line); err == nil {
			t.Errorf("%q: %q", line, words)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range protocol(f).Lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := Parse(line); err == nil && (len(line) >= MaxLine || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' })) {
			t.Errorf("%q", line)
		}
	})
}
