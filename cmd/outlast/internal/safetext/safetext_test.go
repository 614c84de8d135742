package safetext

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"outlast/abi"
	"outlast/host"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":               "plain",
		" two\nlines\t":       "two lines",
		"\x1b[2Jgone\a":       "?[2Jgone?",
		"Zürich":              "Zürich",
		"bad \xff byte":       "bad ? byte",
		"\u202eright to left": "?right to left",
		"\u009b31m":           "?31m",
	} {
		if got := Line(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if got := Line(strings.Repeat("ü", 1000)); len(got) > maxLine || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	if got := ASCII("Zürich"); got != "Z?rich" {
		t.Errorf("%q", got)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b[31mb\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q has %q", Line(s), r)
			}
		}
		for _, b := range []byte(ASCII(s)) {
			if b < ' ' || b > '~' {
				t.Fatalf("%q has %q", ASCII(s), b)
			}
		}
	})
}

func TestAPluginsWordsAreLeftOut(t *testing.T) {
	quote := &abi.Error{Code: "internal", Message: "I cannot read: Connection refused"}
	wrapped := &host.PluginError{Doing: "running the policy", Err: fmt.Errorf("%w (and again: %w)", quote, quote)}
	for _, err := range []error{quote, wrapped, fmt.Errorf("outer: %w", wrapped)} {
		got := Error(err)
		if strings.Contains(got, "refused") || !strings.Contains(got, "internal") {
			t.Errorf("%q", got)
		}
	}
	if got := Error(wrapped); got != "running the policy: the plugin answered with the error internal" {
		t.Errorf("%q", got)
	}
}

func TestOurOwnErrorsAreWhole(t *testing.T) {
	if got := Error(errors.New("outlast: it\nfailed")); got != "it failed" {
		t.Errorf("%q", got)
	}
	policy := &host.PolicyError{Name: "mine.json", Err: &abi.Error{Code: "invalid_policy", Field: "budgets", Message: "is missing"}}
	if got := Error(policy); got != "policy mine.json: budgets: is missing" {
		t.Errorf("%q", got)
	}
}
