package policy

import (
	"strings"
	"testing"

	"outlast/abi"
)

// The tests in this file are of what only a policy needs that must equal a
// client in Python.

func colourful(t *testing.T, colours string) *Document {
	t.Helper()
	doc, err := Parse(strings.Replace(Source("witan-core"), `"colours": "kept"`, `"colours": "`+colours+`"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A colour in the middle of a marker stands in its way if colours are kept.
func TestColoursKept(t *testing.T) {
	kept, removed := colourful(t, "kept"), colourful(t, "removed")
	if kept.Digest != builtin(t, "witan-core").Digest || kept.Digest == removed.Digest {
		t.Errorf("digests: kept %s, removed %s", kept.Digest, removed.Digest)
	}
	if strings.Contains(removed.Normal, "colours") || !strings.Contains(kept.Normal, `"colours":"kept"`) {
		t.Errorf("the normal texts do not tell colours apart")
	}
	for _, c := range []struct {
		name          string
		result        *abi.Result
		kept, removed string
	}{
		{"around a marker", exited(1, "\x1b[91mtcp connect error\x1b[0m", ""), "unavailable", "unavailable"},
		{"in a marker", exited(1, "tcp \x1b[0mconnect error", ""), "failed", "unavailable"},
		{"in an HTTP marker", answered(500, "stale \x1b[1mview"), "failed", "conflict"},
		{"alone beside an error object", exited(1, "\x1b[0m", `{"error":"stale view"}`), "failed", "conflict"},
		{"in what is shown", exited(1, "stamped at internal \x1b[0mschema, reads only", ""), "failed", "storage_mismatch"},
	} {
		for doc, want := range map[*Document]string{kept: c.kept, removed: c.removed} {
			call := abi.Call{Remote: true, ConnectRetry: true}
			a, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Random: new(int64), Result: c.result})
			if a.Kind != want {
				t.Errorf("%s, kept %t: %s, want %s", c.name, doc == kept, a.Kind, want)
			}
		}
	}
}

// What is quoted is plain, whatever is searched.
func TestColoursAreNotQuoted(t *testing.T) {
	result := exited(1, "\x1b[91mpolicy denied\x1b[0m\n", "")
	call := abi.Call{}
	a, _ := ask(t, builtin(t, "witan-core"), &call, "", &abi.Event{Type: abi.Attempted, Random: new(int64), Result: result})
	if a.Outcome == nil || a.Outcome.LastError != "policy denied" {
		t.Errorf("got %+v", a.Outcome)
	}
}

func TestBlankLikePython(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t\r\n\v\f": true, "\u0085\u00a0\u2028": true, "\x1c\x1d\x1e\x1f": true,
		"\x1b[0m": false, "\x1b": false, "\u200b": false, "a": false,
	} {
		if got := blank([]string{"", text}); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

// Over HTTP the whole message is shown; of an error object on stdout its error and code.
func TestShownByTransport(t *testing.T) {
	object := `{"error":"stamped at internal schema v4","note":"reads only"}`
	for want, result := range map[string]*abi.Result{
		"storage_mismatch": answered(500, object),
		"failed":           exited(1, "", object),
	} {
		if got := kindBy(t, "witan-core", abi.Call{}, result); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The largest random number on the wire stands for 1 too: a delay that then
// reaches the call's end is not waited.
func TestTheLargestDrawReachesTheEnd(t *testing.T) {
	const largest = 1<<32 - 1
	begin := int64(0)
	for _, c := range []struct {
		text           string
		budget, random int64
		want           abi.ActionType
	}{
		{"stale view", 100_000, largest, abi.Stop},
		{"stale view", 100_001, largest, abi.Retry},
		{"stale view", 99_999, largest - 1, abi.Stop},
		{"stale view", 100_000, largest - 1, abi.Retry},
		{"stale view", 50_000, 1 << 31, abi.Stop},
		{"stale view", 50_001, 1 << 31, abi.Retry},
		{"stale view", 1, 0, abi.Retry},
		{"too_many_requests", 274_999, largest, abi.Stop},
		{"too_many_requests", 275_000, largest, abi.Retry},
		{"too_many_requests", 249_999, 0, abi.Stop},
		{"too_many_requests", 250_000, 0, abi.Retry},
	} {
		call := abi.Call{Remote: true, ConnectRetry: true, BudgetUS: c.budget, StartedUS: &begin}
		result := exited(1, c.text, "")
		a, _ := ask(t, builtin(t, "witan-core"), &call, "", &abi.Event{Type: abi.Attempted, Random: &c.random, Result: result})
		if a.Type != c.want {
			t.Errorf("%s, a budget of %d us, random %d: %s, want %s", c.text, c.budget, c.random, a.Encode(), c.want)
		}
	}
}
