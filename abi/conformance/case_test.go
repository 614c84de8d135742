package conformance

import "testing"

func TestRequestBytes(t *testing.T) {
	raw := "x"
	for want, c := range map[string]*Case{
		"x":       {Raw: &raw},
		"\xff":    {RawBase64: "/w=="},
		"ababc":   {RawParts: []Part{{"ab", 2}, {"c", 0}}},
		`{"a":1}`: {Input: []byte(`{"a":1}`)},
	} {
		if got := string(c.Request()); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
