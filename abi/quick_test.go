package abi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkQuick compares the two readers of a decide request: what the quick one
// takes, the strict one reads in the same way.
func checkQuick(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) (taken bool) {
	t.Helper()
	quick := quickDecide(text)
	if quick == nil {
		return false
	}
	strict, err := strictDecide(text)
	if err != nil {
		t.Fatalf("%q is taken, and refused by the strict reader: %v", text, err)
	}
	if diff := cmp.Diff(&strict, quick); diff != "" {
		t.Fatalf("%q is read as something else (-strict +quick):\n%s", text, diff)
	}
	return true
}

func (t *Text) whole() { t.Head, t.Tail, t.Cut = t.Head+t.Tail, "", false }

// TestQuickTakesRequests: all that are right and have neither a document nor a
// text that was cut.
func TestQuickTakesRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := DecideRequest{
			Policy: PolicyRef{Name: drawString(t, "policy")}, Call: drawCall(t), Event: drawEvent(t),
			State: rapid.StringN(-1, -1, MaxStateBytes).Draw(t, "state"), Explain: rapid.Bool().Draw(t, "explain"),
		}
		if result := r.Event.Result; result != nil {
			result.Stdout.whole()
			result.Stderr.whole()
			result.Message.whole()
		}
		if text := string(r.Encode()); !checkQuick(t, text) {
			t.Fatalf("%q is not taken", text)
		}
	})
}

// TestQuickAgrees damages requests, and spells them in other ways: a piece is
// taken out, put in twice, or replaced by a piece that JSON has a meaning for.
func TestQuickAgrees(t *testing.T) {
	pieces := []string{
		" ", "\n\t", ",", ":", "{", "}", "[", "]", `"`, `\`, "0", "-1", "1.0", "1e3", "1e999", "9007199254740992", "01", "true", "null", `""`,
		`"x":1`, `"write":true,`, `"type":"down",`, `"by":"ready",`, `"sent":"no",`, `"sent":"",`, `"signal":"",`, `"now_us":0,`, `"result":{},`,
		`"stderr":"x",`, `"stderr_head":"x",`, `"retry_after_us":1.5,`, `"policy":{},`, "\x00", "\xff", "é", `\u0000`, `\ud800`,
	}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		r := DecideRequest{Policy: PolicyRef{Name: "omnigraph"}, Call: drawCall(t), Event: drawEvent(t), State: "s"}
		text := string(r.Encode())
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := from + rapid.IntRange(0, min(12, len(text)-from)).Draw(t, "to")
			middle := rapid.OneOf(rapid.SampledFrom(pieces), rapid.Just(text[from:to]+text[from:to])).Draw(t, "piece")
			text = text[:from] + middle + text[to:]
		}
		if checkQuick(t, text) {
			taken++
		}
	})
	if taken == 0 {
		t.Error("none was taken, so nothing was compared")
	}
}

// TestQuickLimits: at a limit a request is taken, beyond it not.
func TestQuickLimits(t *testing.T) {
	request := func(label, state, stderr, signal string) string {
		return `{"policy":"p","call":{"label":"` + label + `","remote":true,"write":false},"state":"` + state +
			`","event":{"type":"attempted","now_us":1,"result":{"stderr":"` + stderr + `","signal":"` + signal + `"}}}`
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	for text, want := range map[string]bool{
		request(x(MaxLabelBytes), x(MaxStateBytes), x(MaxTextBytes), x(maxSignalName)): true,
		request(x(MaxLabelBytes+1), "", "", ""):                                        false,
		request("", x(MaxStateBytes+1), "", ""):                                        false,
		request("", "", x(MaxTextBytes+1), ""):                                         false,
		request("", "", "", x(maxSignalName+1)):                                        false,
		request("", "", "", "") + strings.Repeat(" ", MaxRequestBytes):                 false,
	} {
		if got := checkQuick(t, text); got != want {
			t.Errorf("%.80q… of %d bytes: taken is %t, want %t", text, len(text), got, want)
		}
		if _, err := strictDecide(text); (err == nil) != want {
			t.Errorf("%.80q… of %d bytes: the strict reader says %v", text, len(text), err)
		}
	}
}

func FuzzQuick(f *testing.F) {
	f.Add(valid)
	f.Add(`{"policy":"p","call":{"remote":true,"write":false},"event":{"type":"woken","by":"ready","now_us":1}}`)
	f.Add(`{"policy":"p","call":{"remote":true,"write":false},"state":"o1","event":{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"x\n"}},"explain":true}`)
	f.Fuzz(func(t *testing.T, text string) { checkQuick(t, text) })
}
