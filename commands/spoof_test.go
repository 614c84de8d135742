package commands_test

import (
	"strings"
	"testing"

	"outlast/abi"
	"outlast/commands"
	"outlast/plugin/policy"

	"pgregory.net/rapid"
)

// beginnings are first lines after which a command has got somewhere: what
// stands behind them are a server's, a user's or another program's words.
var beginnings = map[string][]string{
	"curl":      {"curl: (22) The requested URL returned error: 404\n", "< HTTP/1.1 503 ", "*   Trying 127.0.0.1:80...\n"},
	"psql":      {"NOTICE:  ", "psql:a.sql:1: NOTICE:  ", "ERROR:  ", "psql:a.sql:1: error: \\connect: ", "\\connect: ", "psql: error: connection to server was lost\n", "psql: warning: "},
	"redis-cli": {"ERR ", "Error: ", "(error) ", "AUTH failed: ", "Warning: Using a password\n"},
	"kubectl":   {"Error from server (InternalError): ", "error: ", "Warning: ", "E: ", "Error: ", "deleting\n"},
	"ssh":       {"started\n", "bash: ", "Warning: Permanently added 'h'\n", "x: "},
	"git":       {"remote: ", "Cloning into 'c'...\nremote: ", "error: RPC failed; ", "fatal: the remote end hung up\n", "To http://h/\n", "Cloning into 'c'... ", "Cloning into 'c'...\nfatal: unable to access 'http://h/': The requested URL returned error: 404\n", "Cloning into 'c'...\nfatal: unable to access 'http://h/': The requested URL returned error: 404\nremote: "},
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

var exits = map[string][]int64{
	"curl": {1, 22, 28, 52, 56}, "psql": {1, 2, 3}, "redis-cli": {1}, "kubectl": {1}, "ssh": {1, 255}, "git": {1, 128},
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
		for _, beginning := range beginnings[name] {
			for _, exit := range exits[name] {
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
		exit := rapid.SampledFrom(exits[name]).Draw(t, "exit code")
		speech := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "speech"), "")
		result := abi.Result{Stderr: abi.Clip(rapid.SampledFrom(beginnings[name]).Draw(t, "beginning") + spoken(name, speech))}
		if rapid.Bool().Draw(t, "on stdout") {
			result.Stdout, result.Stderr = result.Stderr, abi.Text{}
		}
		fools(t, name, exit, result)
	})
}
