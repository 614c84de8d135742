package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// span is a span of a trace in tests/traces, which each language's tests write.
type span struct {
	Name, Parent, Status string
	Links                []int64
	Attributes           map[string]any
}

// The same call, ridden out in each language, has the same trace: spans, attributes and
// their values. Of error.type only the class of an exception is the language's own.
func TestTracesAreTheSame(t *testing.T) {
	first := traceOf(t, "go")
	files, err := filepath.Glob("traces/*.json")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		language := strings.TrimSuffix(filepath.Base(file), ".json")
		other := traceOf(t, language)
		if len(other) != len(first) {
			t.Errorf("%s has %d spans, and Go %d", language, len(other), len(first))
			continue
		}
		for i := range first {
			if !reflect.DeepEqual(other[i], first[i]) {
				t.Errorf("span %d of %s is %+v, and Go's %+v", i, language, other[i], first[i])
			}
		}
	}
}

// traceOf reads a trace. What a refused connection is in each language stands in for
// its word in all.
func traceOf(t *testing.T, language string) (spans []span) {
	t.Helper()
	text, err := os.ReadFile("traces/" + language + ".json")
	if err == nil {
		err = json.Unmarshal(text, &spans)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{"go": "syscall.Errno", "python": "ConnectionRefusedError", "node": "ECONNREFUSED"}[language]
	classes := 0
	for _, s := range spans {
		if class, ok := s.Attributes["error.type"].(string); ok && strings.Trim(class, "0123456789") != "" {
			if class != refused {
				t.Errorf("%s: error.type is %q", language, class)
			}
			s.Attributes["error.type"] = "refused"
			classes++
		}
	}
	if classes != 2 {
		t.Errorf("%s: %d attempts were refused", language, classes)
	}
	return spans
}
