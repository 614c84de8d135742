package omnigraph

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"outlast/abi"
)

// What omnigraph's JSON reader says, of parameters or of an answer.
const (
	mistyped = "Error: \n   0: \x1b[91mkey must be a string at line 1 column 2\x1b[0m\n\nLocation:\n"
	noMap    = "Error: \n   0: \x1b[91minvalid type: sequence, expected a map at line 1 column 0\x1b[0m\n\nLocation:\n"
	html     = "Error: \n   0: \x1b[91mexpected value at line 1 column 1\x1b[0m\n\nLocation:\n"
	refused  = "Error: \n   0: error sending request for url (http://h)\n   1: client error (Connect)\n   2: tcp connect error\n\nLocation:\n"
)

// Parameters that are plainly no JSON object were not sent; of everything else
// nothing is known.
func TestParameters(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad, good, large := file("bad", `{"name": x}`), file("good", `{"name": "x"}`), file("large", string(make([]byte, maxParams+1)))
	for _, text := range []string{``, ` `, `{`, `{name:"x"}`, `{'name':'x'}`, `{"name":"x",}`, `{"name" "x"}`, `name=x`, `{"name":"x"} {}`, `{"a":"b`, `{"a":tru}`, "\ufeff{}", `{"a":01}`, `[1`} {
		for line, want := range map[string]abi.Sent{mistyped: abi.SentNo, html: abi.SentNo, refused: abi.SentUnknown, "": abi.SentUnknown} {
			check(t, line, want, "mutate", "add", "--server", "http://h", "--params", text)
			check(t, line, want, "mutate", "add", "--store", "g", "--params="+text)
		}
	}
	for _, text := range []string{`[1]`, `5`, `"x"`, `null`, `true`} {
		check(t, noMap, abi.SentNo, "change", "add", "--params", text)
		check(t, html, abi.SentUnknown, "mutate", "add", "--params", text) // an answer
	}
	for _, text := range []string{`{}`, ` {"a": {"b": [1, 2e3, null]}} `, `{"a":1,"a":2}`} {
		for _, line := range []string{mistyped, html, noMap} {
			check(t, line, abi.SentUnknown, "mutate", "add", "--params", text)
		}
	}
	check(t, mistyped, abi.SentNo, "mutate", "add", "--params-file", bad)
	for _, args := range [][]string{
		{"mutate", "add"},
		{"mutate", "add", "--params-file", good},
		{"mutate", "add", "--params-file", large},
		{"mutate", "add", "--params-file", dir},
		{"mutate", "add", "--params-file", os.DevNull}, // it may give something else each time
		{"mutate", "add", "--params-file", filepath.Join(dir, "missing")},
		{"mutate", "add", "--params", "{", "--params", "{}"}, // which of the two counts is not known
		{"mutate", "add", "--params", "{", "--params-file", good},
		{"mutate", "add", "--new-option", "--params", "{"},
		{"load", "--data", bad},
		{"mutate", "add", "--", "--params", "{"},
		{"alias", "add", "--params", "{"}, // not known of these
		{"cluster", "apply", "--params", "{"},
	} {
		if slices.Contains(args, "--new-option") {
			args = append(args[:3:3], append([]string{"word"}, args[3:]...)...)
		}
		check(t, mistyped, abi.SentUnknown, args...)
	}
}

func check(t *testing.T, stderr string, want abi.Sent, args ...string) {
	t.Helper()
	p := Parse(append([]string{"omnigraph"}, args...)).Params()
	code, other := int64(1), int64(101)
	r := abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr)}
	if got := p.Sent(&r); got != want {
		t.Errorf("%q: %q: sent %s, want %s", args, stderr, got, want)
	}
	for _, r := range []abi.Result{
		{ExitCode: &other, Stderr: r.Stderr}, {Signal: "SIGKILL", Stderr: r.Stderr}, {ExitCode: &code, TimedOut: true, Stderr: r.Stderr},
		{ExitCode: &code, Stdout: r.Stderr}, {ExitCode: &code, Stderr: abi.Text{Head: stderr, Cut: true}},
	} {
		if got := p.Sent(&r); got != abi.SentUnknown {
			t.Errorf("%q: %+v: sent %s", args, r, got)
		}
	}
}

// A file that is another one after the attempt tells nothing.
func TestParametersThatChange(t *testing.T) {
	for _, after := range []string{`{}`, `{"b`, ""} {
		path := filepath.Join(t.TempDir(), "params")
		if err := os.WriteFile(path, []byte(`{"a`), 0o600); err != nil {
			t.Fatal(err)
		}
		p := Parse([]string{"omnigraph", "mutate", "add", "--params-file", path}).Params()
		code := int64(1)
		r := abi.Result{ExitCode: &code, Stderr: abi.Clip(mistyped)}
		if got := p.Sent(&r); got != abi.SentNo {
			t.Errorf("before: %s", got)
		}
		if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
		if after == "" {
			os.Remove(path)
		}
		if got := p.Sent(&r); got != abi.SentUnknown {
			t.Errorf("then %q: %s", after, got)
		}
	}
}
