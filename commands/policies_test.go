package commands_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/commands"
	"outlast/plugin/policy"
)

func TestDocuments(t *testing.T) {
	for _, name := range commands.Names() {
		doc := document(t, name)
		if doc.Name != name {
			t.Errorf("%s calls itself %s", name, doc.Name)
		}
		if slices.Contains(policy.Names(), name) {
			t.Errorf("%s hides a built-in policy", name)
		}
		// Numbers that no measurement is behind say so.
		if len(doc.Measured) == 0 && !strings.Contains(doc.Description, "is a choice") {
			t.Errorf("%s: the description does not say that the window is a choice", name)
		}
		if text, err := os.ReadFile(filepath.Join(name, "policy.json")); err != nil || string(text) != commands.Policy(name) {
			t.Errorf("%s: the document is not the file: %v", name, err)
		}
	}
}

func TestFor(t *testing.T) {
	for _, c := range []struct{ argv0, want string }{
		{"curl", "curl"}, {"/usr/bin/psql", "psql"}, {"./redis-cli", "redis-cli"}, {"git", "git"},
		{"curl2", ""}, {"", ""}, {"/", ""}, {"omnigraph", ""}, {"capture", ""}, {"internal", ""}, {"curl/policy.json", ""}, {".", ""}, {"..", ""},
	} {
		if name := commands.For(c.argv0); name != c.want {
			t.Errorf("For(%q) = %q", c.argv0, name)
		}
	}
	for _, name := range []string{"", ".", "..", "curl/", "./curl", "curl/policy.json", "../commands/curl", "omnigraph", "capture", "none"} {
		if commands.Policy(name) != "" {
			t.Errorf("there is a document called %q", name)
		}
	}
}

// A policy waits through its own command's sample with a read; nothing is known
// of others.
func TestSamples(t *testing.T) {
	for _, name := range commands.Names() {
		sample, ok := commands.Sample(name, commands.Refused)
		if got := decide(t, name, false, sample); !ok || got.Kind != "unavailable" || got.Action != abi.Retry {
			t.Errorf("%s: %t, %+v", name, ok, got)
		}
	}
	for ending, want := range map[commands.Ending]string{commands.Refused: "unavailable", commands.Full: "admission_cap", commands.Broken: "interrupted"} {
		sample, ok := commands.Sample("omnigraph", ending)
		call := abi.Call{Remote: true, ConnectRetry: true, Seed: new(int64)}
		doc, err := policy.BuiltIn("omnigraph")
		if err != nil {
			t.Fatal(err)
		}
		action, _, err := policy.Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &sample}, false)
		if !ok || err != nil || action.Kind != want {
			t.Errorf("%s of omnigraph: %t, %+v, %v", ending, ok, action, err)
		}
	}
	for _, name := range []string{"", ".", "capture", "none", "witan-core"} {
		if _, ok := commands.Sample(name, commands.Refused); ok {
			t.Errorf("%q has a sample", name)
		}
	}
}

// How an attempt was ended comes before what it said.
func TestEndedAttempts(t *testing.T) {
	code := int64(0)
	for _, name := range commands.Names() {
		for _, c := range []struct {
			result      abi.Result
			read, write verdict
		}{
			{abi.Result{Signal: "SIGTERM", TimedOut: true}, verdict{"timed_out", abi.Retry, ""}, verdict{"timed_out", abi.Stop, abi.EffectsUnknown}},
			{abi.Result{ExitCode: &code, TimedOut: true}, verdict{"timed_out", abi.Retry, ""}, verdict{"timed_out", abi.Stop, abi.EffectsUnknown}},
			{abi.Result{Signal: "SIGKILL"}, verdict{"crashed", abi.Stop, ""}, verdict{"crashed", abi.Stop, abi.EffectsUnknown}},
			{abi.Result{Signal: "SIGINT"}, verdict{"cancelled", abi.Stop, ""}, verdict{"cancelled", abi.Stop, abi.EffectsUnknown}},
		} {
			if got := decide(t, name, false, c.result); got != c.read {
				t.Errorf("%s: %+v: a read is %+v, want %+v", name, c.result, got, c.read)
			}
			if got := decide(t, name, true, c.result); got != c.write {
				t.Errorf("%s: %+v: a write is %+v, want %+v", name, c.result, got, c.write)
			}
		}
	}
}

// What stops a write of which nobody knows whether it was sent is recognised by
// the same signs as what retries the others.
func TestBothHalvesAgree(t *testing.T) {
	for _, name := range commands.Names() {
		unsure, others := map[string][]policy.Condition{}, map[string][]policy.Condition{}
		for _, rule := range document(t, name).Rules {
			for _, c := range rule.When {
				switch {
				case rule.Kind != "unavailable" && rule.Kind != "unresolved" && rule.Kind != "interrupted":
				case c.Write != nil && *c.Write && slices.Equal(c.Sent, []abi.Sent{abi.SentUnknown, abi.SentYes}):
					c.Write, c.Sent = nil, nil
					unsure[rule.Kind] = append(unsure[rule.Kind], c)
				default:
					others[rule.Kind] = append(others[rule.Kind], c)
				}
			}
		}
		if len(unsure) < 2 || !reflect.DeepEqual(unsure, others) {
			t.Errorf("%s: writes %+v, others %+v", name, unsure, others)
		}
	}
}
