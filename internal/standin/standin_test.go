package standin

import (
	"strings"
	"testing"
)

func TestReleases(t *testing.T) {
	for text, want := range map[string]string{"": "0.13", "0.10": "0.10", "0.12-dev": "0.12-dev", "0.14": "0.14"} {
		if r, err := ParseRelease(text); err != nil || r.String() != want {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
	for _, text := range []string{"0.9", "1.13", "0.13-dev", "13", "0.x", "0.100"} {
		if r, err := ParseRelease(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

// A body can say what it likes: only what omnigraph knows is taken over.
func TestWhatAServerTells(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"x"}`: `{"error":"x"}`,
		`{"code":null,"error":"x","more":1,"more":2}`:                                                        `{"error":"x"}`,
		`{"diagnostic":{"b":1,"a":1.50},"error":"x","code":"conflict","key_conflict":{}}`:                    `{"error":"x","code":"conflict","key_conflict":{},"diagnostic":{"a":1.50,"b":1}}`,
		"{\"error\":\"\\u2028<&>\\u0001\\n\\u007f\"}":                                                        "{\"error\":\"\u2028<&>\\u0001\\n\u007f\"}",
		`{"error":"x","command_outcome":{"effects":"none"},"request_dispatched":false,"merge_conflicts":[]}`: `{"error":"x"}`,
		`{"error":"x","error":"y"}`:                                                                          "",
		`{"error":"x","code":"teapot"}`:                                                                      "",
		`{"error":null}`:                                                                                     "",
		`{"error":"x","merge_conflicts":{}}`:                                                                 "",
		`{"error":"x"} more`:                                                                                 "",
		`["error"]`:                                                                                          "",
		``:                                                                                                   "",
	} {
		told, ok := readTold([]byte(body))
		got := ""
		if ok {
			got = encode(told.members())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
