package abi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOK(t *testing.T) {
	code := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name   string
		result Result
		ok     bool
	}{
		{"exit 0", Result{ExitCode: code(0)}, true},
		{"exit 0 with something on stderr", Result{ExitCode: code(0), Stderr: Text{Head: "warning"}}, true},
		{"exit 1", Result{ExitCode: code(1)}, false},
		{"exit -1", Result{ExitCode: code(-1)}, false},
		{"a signal", Result{Signal: "SIGTERM"}, false},
		{"a signal and exit 0", Result{Signal: "SIGTERM", ExitCode: code(0)}, false},
		{"timed out with exit 0", Result{TimedOut: true, ExitCode: code(0)}, false},
		{"200", Result{HTTPStatus: code(200)}, true},
		{"204", Result{HTTPStatus: code(204)}, true},
		{"299", Result{HTTPStatus: code(299)}, true},
		{"199", Result{HTTPStatus: code(199)}, false},
		{"300", Result{HTTPStatus: code(300)}, false},
		{"2000", Result{HTTPStatus: code(2000)}, false},
		{"200 with a message", Result{HTTPStatus: code(200), Message: Text{Head: "no stamp"}}, false},
		{"200 with an empty cut message", Result{HTTPStatus: code(200), Message: Text{Cut: true}}, false},
		{"200 whose body was cut", Result{HTTPStatus: code(200), Failure: FailureCut}, false},
		{"exit 1 and status 200", Result{ExitCode: code(1), HTTPStatus: code(200)}, false},
		{"a message alone", Result{Message: Text{Head: "could not connect"}}, false},
		{"nothing", Result{}, false},
	} {
		if got := c.result.OK(); got != c.ok {
			t.Errorf("%s: OK is %t", c.name, got)
		}
	}
}

func TestClipKeepsWhatFits(t *testing.T) {
	for _, s := range []string{"", "x", strings.Repeat("é", MaxTextBytes/2)} {
		if got := Clip(s); got != (Text{Head: s}) {
			t.Errorf("a text of %d bytes is changed", len(s))
		}
	}
}

// Whatever a program printed, what Clip makes of it can be sent, and keeps its
// start and its end.
func TestClipCanBeSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"x", "é", "→", "𝄞", "\xff", "a\xc3", "line\r\n"}).Draw(t, "unit")
		lead := rapid.StringN(0, 5, -1).Draw(t, "lead")
		size := rapid.SampledFrom([]int{0, 1, MaxTextBytes / 3, MaxTextBytes - 5, MaxTextBytes, MaxTextBytes + 1, 3 * MaxTextBytes}).Draw(t, "size")
		s := lead + strings.Repeat(unit, size/len(unit)+1)
		want := Clip(s)
		if !utf8.ValidString(want.Head) || !utf8.ValidString(want.Tail) {
			t.Fatal("not UTF-8")
		}
		valid := string([]rune(s))
		if !strings.HasPrefix(valid, want.Head) || want.Cut && !strings.HasSuffix(valid, want.Tail) {
			t.Fatal("the head or the tail is not the text's")
		}
		if want.Cut != (len(valid) > MaxTextBytes) || want.Cut && len(want.Head)+len(want.Tail) < MaxTextBytes-2*utf8.UTFMax {
			t.Fatalf("%d bytes are cut to %d and %d", len(valid), len(want.Head), len(want.Tail))
		}
		e := Event{Type: Attempted, Result: &Result{Stderr: want, Sent: SentUnknown}}
		got, err := DecodeEvent(string(e.Encode()))
		if err != nil || got.Result.Stderr != want {
			t.Fatalf("it cannot be sent: %v", err)
		}
	})
}
