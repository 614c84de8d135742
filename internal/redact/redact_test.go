package redact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		text    string
		secrets []string
		want    string
	}{
		{"a token abc.", []string{"abc"}, "a token [redacted]."},
		{"abcdef", []string{"abc", "abcdef"}, "[redacted]"},
		{"abcdef", []string{"abcd", "cdef"}, "[redacted]"},
		{"aaaa b", []string{"aa"}, "[redacted] b"},
		{"abcabc", []string{"abc"}, "[redacted][redacted]"},
		{"red", []string{"", "acted"}, "red"},
		{"x", nil, "x"},
	} {
		if got := Secrets(c.text, c.secrets); got != c.want {
			t.Errorf("%q without %q: %q, want %q", c.text, c.secrets, got, c.want)
		}
	}
}

// However they overlap, nothing of a secret's own letters stays.
func TestNothingOfASecretStays(t *testing.T) {
	letters := rapid.StringMatching("[xyz]{1,5}")
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(letters, 1, 4).Draw(t, "secrets")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(secrets, "-")), 0, 8).Draw(t, "text"), "")
		clean := Secrets(text, secrets)
		if strings.ContainsAny(clean, "xyz") {
			t.Fatalf("%q without %q is %q", text, secrets, clean)
		}
	})
}
