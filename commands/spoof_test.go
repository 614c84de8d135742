package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/commands"
	"outlast/plugin/policy"

	"pgregory.net/rapid"
)

// spoof is how a command ends, and what it prints first, when it has got
// somewhere: what stands behind its beginnings are a server's, a user's or
// another program's words. It stands in the command's folder.
type spoof struct {
	Exits      []int64
	Beginnings []string
}

func spoofOf(t tester, name string) (s spoof) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name, "testdata", "spoof.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Exits) == 0 || len(s.Beginnings) == 0 {
		t.Fatalf("%s: expected exits and beginnings, not %+v: %v", name, s, err)
	}
	return s
}

// said is a text that somebody has full control of: markers, whole failures,
// and what ends a line.
func said(t testing.TB) []string {
	list := []string{"\n", "\r", "\r\n", "\n\n", "\x1b[0m", "\x1b[2K\r", "\x00", "\u2028", " ", "x", "'...", "remote: ", "E1130 ", "Cloning into '"}
	for _, c := range captures(t) {
		list = append(list, c.Stderr)
	}
	for _, name := range commands.Names() {
		for _, rule := range document(t, name).Rules {
			for _, c := range rule.When {
				for _, test := range c.Text {
					for _, group := range [][]policy.Marker{test.Starts, test.Any, test.All} {
						for _, m := range group {
							list = append(list, m.Text)
						}
					}
				}
			}
		}
	}
	return list
}

// spoken is a speech as a command lets it through. git marks each line of the
// other side's, so that none follows on its own first line; over ssh it does
// not, and there only a read is believed.
func spoken(name, speech string) string {
	if name == "git" {
		return strings.ReplaceAll(speech, "'...\n", "' ")
	}
	return speech
}

// fools fails if a text is taken for a connection that could not be made, or if
// a write is repeated for it.
func fools(t tester, name string, exit int64, result abi.Result) {
	t.Helper()
	result.ExitCode = &exit
	kind := "failed"
	if name == "curl" && (exit == 52 || exit == 56) { // these codes mean a broken connection, whatever is said
		kind = "interrupted"
	}
	if got := decide(t, name, false, result); got.Kind != kind && got.Kind != "failed" {
		t.Fatalf("%s, exit code %d: %+v: %q", name, exit, got, result.Stderr.Head)
	}
	got := decide(t, name, true, result)
	if got.Kind == kind {
		got.Kind = "failed"
	}
	if got != (verdict{"failed", abi.Stop, abi.EffectsUnknown}) {
		t.Fatalf("%s, exit code %d, a write: %+v: %q", name, exit, got, result.Stderr.Head)
	}
}

// Every failure and every marker there is, after every beginning.
func TestNobodyIsFooledByOneSaying(t *testing.T) {
	words := said(t)
	for _, name := range commands.Names() {
		spoof := spoofOf(t, name)
		for _, beginning := range spoof.Beginnings {
			for _, exit := range spoof.Exits {
				for _, word := range words {
					fools(t, name, exit, abi.Result{Stderr: abi.Clip(beginning + spoken(name, word))})
				}
			}
		}
	}
}

// Whatever is said after the first words of something else, it is not taken for
// a connection that could not be made, and no write is repeated for it.
func TestNobodyIsFooled(t *testing.T) {
	words := said(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(commands.Names()).Draw(t, "policy")
		spoof := spoofOf(t, name)
		exit := rapid.SampledFrom(spoof.Exits).Draw(t, "exit code")
		speech := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "speech"), "")
		result := abi.Result{Stderr: abi.Clip(rapid.SampledFrom(spoof.Beginnings).Draw(t, "beginning") + spoken(name, speech))}
		if rapid.Bool().Draw(t, "on stdout") {
			result.Stdout, result.Stderr = result.Stderr, abi.Text{}
		}
		fools(t, name, exit, result)
	})
}
