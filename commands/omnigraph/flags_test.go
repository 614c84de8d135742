package omnigraph

import (
	"regexp"
	"testing"
)

// Flags are written as on the command line, without dashes and with one meaning.
func TestFlagNames(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for flag := range longFlags {
		if !name.MatchString(flag) {
			t.Errorf("--%s is no flag", flag)
		}
	}
	for _, flag := range []string{"server", "store", "graph", "as", "profile", "cluster", "yes", "quiet"} {
		if _, known := longFlags[flag]; !known {
			t.Errorf("the global flag --%s is missing", flag)
		}
	}
}

// The flags that address something are few, and each does what it says.
func TestAddressingFlags(t *testing.T) {
	for line, want := range map[string]Invocation{
		"omnigraph export --server u --graph g":  {Verb: "export", Remote: true, Server: "u"},
		"omnigraph export --server=u":            {Verb: "export", Remote: true, Server: "u"},
		"omnigraph export --store p":             {Verb: "export", Store: "p"},
		"omnigraph export --profile n":           {Verb: "export", Remote: true},
		"omnigraph export --target n":            {Verb: "export", Remote: true},
		"omnigraph export --target n --store p":  {Verb: "export", Remote: true},
		"omnigraph export --store p --profile":   {Verb: "export", Store: "p", Ambiguous: true, Write: true},
		"omnigraph export --store p --profile n": {Verb: "export", Store: "p"},
		"omnigraph lint --cluster d --graph g":   {Verb: "lint"},
		"omnigraph commit show --uri p c1":       {Verb: "commit show", Store: "p"},
	} {
		want.Command = "omnigraph"
		if got := Parse(args(line)); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
}
