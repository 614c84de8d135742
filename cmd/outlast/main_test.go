package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// run is parsed by a part of the command line only: by the whole of it the same
// would come out, errors and help too.
func TestRunIsParsedAsByTheWhole(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--", "true"},
		{"run", "--policy", "curl", "--read", "--max-wait", "5m", "--", "curl", "--help"},
		{"run", "--retry-exit=7,28", "--attempts", "3", "--repeatable", "-q", "./sync.sh", "-v"},
		{"run"},
		{"run", "--help"},
		{"run", "--polcy", "x", "--", "true"},
		{"run", "--read", "--write", "--", "true"},
		{"run", "--max-wait", "soon", "--", "true"},
		{"run", "--stdin", "some", "--", "true"},
		{"run", "--policy"},
	} {
		var whole, part cli
		wantText, wantErr := parsedBy(t, &whole, args)
		gotText, gotErr := parsedBy(t, part.grammar(args), args)
		if gotErr != wantErr || gotText != wantText {
			t.Errorf("%q: %q and %q, want %q and %q", args, gotErr, gotText, wantErr, wantText)
		}
		if diff := cmp.Diff(whole.Run, part.Run, cmp.AllowUnexported(runVerb{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", args, diff)
		}
	}
	if c := (&cli{}); c.grammar([]string{"run"}) == any(c) || c.grammar(nil) != any(c) || c.grammar([]string{"policy", "run"}) != any(c) {
		t.Error("the part is taken for another verb, or not for run")
	}
}

// parsedBy is what parsing prints, and its error.
func parsedBy(t *testing.T, grammar any, args []string) (printed, err string) {
	t.Helper()
	parser, fault := newParser(grammar)
	if fault != nil {
		t.Fatal(fault)
	}
	var out bytes.Buffer
	parser.Stdout, parser.Stderr = &out, &out
	if _, fault := parse(parser, args); fault != nil {
		err = fault.Error()
	}
	return out.String(), err
}
