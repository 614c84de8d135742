package commands_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"outlast/abi"
	"outlast/commands"
	"outlast/plugin/policy"
)

// capture is what a real command did; commands/capture records them.
type capture struct {
	Name, Policy   string
	Argv           []string
	Files          map[string]string
	Exit           int64
	Stdout, Stderr string
	Happened       string
	Applied        bool
	Sent           abi.Sent
	Read, Write    verdict
}

type verdict struct {
	Kind    string
	Action  abi.ActionType
	Effects abi.Effects
}

func (c *capture) result(sent abi.Sent) abi.Result {
	return abi.Result{ExitCode: &c.Exit, Stdout: abi.Clip(c.Stdout), Stderr: abi.Clip(c.Stderr), Sent: sent}
}

func captures(t testing.TB) []capture {
	t.Helper()
	var list []capture
	for _, name := range commands.Names() {
		text, err := os.ReadFile(filepath.Join(name, "testdata", "captures.jsonl"))
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: no captures: %v", name, err)
		}
		for line := range bytes.Lines(text) {
			var c capture
			if err := json.Unmarshal(line, &c); err != nil || c.Policy != name {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
			list = append(list, c)
		}
	}
	return list
}

// tester is a test of this package, or one of rapid's.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

var parsed = map[string]*policy.Document{}

// document is a bundled policy, parsed once. No test of the package is parallel.
func document(t tester, name string) *policy.Document {
	t.Helper()
	if parsed[name] == nil {
		doc, err := policy.Parse(commands.Policy(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parsed[name] = doc
	}
	return parsed[name]
}

// decide is what a policy makes of a call's first failure.
func decide(t tester, name string, write bool, result abi.Result) verdict {
	t.Helper()
	seed := int64(1)
	call := abi.Call{Remote: true, Write: write, ConnectRetry: true, Seed: &seed}
	action, _, err := policy.Decide(document(t, name), &call, "", &abi.Event{Type: abi.Attempted, Result: &result}, false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	v := verdict{Kind: action.Kind, Action: action.Type}
	if write && action.Outcome != nil {
		v.Effects = action.Outcome.Effects
	}
	return v
}

// home is a directory that is the user's home and the current one.
func home(t *testing.T, files map[string]string) (env []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return []string{"HOME=" + dir}
}

func TestCaptures(t *testing.T) {
	for _, c := range captures(t) {
		t.Run(c.Name, func(t *testing.T) {
			sent := func() abi.Sent { // the test's directory is back afterwards
				line := commands.Parse(c.Argv, home(t, c.Files))
				result := c.result("")
				return line.Sent(&result)
			}()
			if sent != c.Sent {
				t.Errorf("%s: sent %s, want %s", c.Happened, sent, c.Sent)
			}
			if got := decide(t, c.Policy, false, c.result(sent)); got != c.Read {
				t.Errorf("%s: a read is %+v, want %+v", c.Happened, got, c.Read)
			}
			if got := decide(t, c.Policy, true, c.result(sent)); got != c.Write {
				t.Errorf("%s: a write is %+v, want %+v", c.Happened, got, c.Write)
			}
		})
	}
}

// What may have been applied is not repeated, nor said to be without effect,
// whatever the recorded verdicts are.
func TestNothingAppliedIsRepeated(t *testing.T) {
	applied := 0
	for _, c := range captures(t) {
		if !c.Applied {
			continue
		}
		applied++
		if c.Sent != abi.SentUnknown || c.Write.Action != abi.Stop || c.Write.Effects != abi.EffectsUnknown {
			t.Errorf("%s: %s, but the write is %+v, sent %s", c.Name, c.Happened, c.Write, c.Sent)
		}
	}
	if applied < 20 {
		t.Errorf("only %d captures in which something was applied: too few to show anything", applied)
	}
}

// Without the word of a host that nothing was sent, no text and no exit code
// makes a policy repeat a write.
func TestWritesNeedTheHostsWord(t *testing.T) {
	for _, c := range captures(t) {
		for _, sent := range []abi.Sent{"", abi.SentUnknown, abi.SentYes} {
			if got := decide(t, c.Policy, true, c.result(sent)); got.Action != abi.Stop || got.Effects != abi.EffectsUnknown {
				t.Errorf("%s, sent %q: %+v", c.Name, sent, got)
			}
		}
	}
}

// A result is judged by its own command's policy only: the words of another
// command are none of it.
func TestCapturesOfOtherCommands(t *testing.T) {
	for _, c := range captures(t) {
		for _, name := range commands.Names() {
			if name == c.Policy || name == "git" && c.Policy == "ssh" {
				continue // git runs ssh, and passes its words on
			}
			if got := decide(t, name, false, c.result("")); got.Kind != "failed" {
				t.Errorf("%s by %s: %+v", c.Name, name, got)
			}
		}
	}
}

// Cut to its head and tail, a capture is what it was or is not recognised.
func TestCapturesThatAreCut(t *testing.T) {
	for _, c := range captures(t) {
		for i := 0; i <= len(c.Stderr); i += 5 {
			result := c.result("")
			result.Stderr = abi.Text{Head: c.Stderr[:i], Tail: c.Stderr[min(i+9, len(c.Stderr)):], Cut: true}
			if got := decide(t, c.Policy, false, result).Kind; got != c.Read.Kind && got != "failed" {
				t.Fatalf("%s, cut at %d, is %s, want %s", c.Name, i, got, c.Read.Kind)
			}
		}
	}
}
