package policy

import (
	"errors"
	"strings"
	"testing"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
)

// tiny is a document with one of everything, which the tests change in places.
const tiny = `{
  "version": 1,
  "name": "tiny",
  "description": "One of everything.",
  "measured": [{"name": "a restart", "duration": "25s", "source": "measured"}],
  "budgets": {
    "away": {
      "max_wait": "60s",
      "windows": 2,
      "broken_connections": 1,
      "backoff": {"type": "exponential", "base": "500ms", "multiplier": 2, "cap": "10s", "jitter": 0.1, "jitter_at_cap": "kept"},
      "call_budget": "clamp",
      "wake": {"reads": "accepting", "writes": "ready", "spread": "100ms", "hold_off": "1s", "max_vain": 3}
    },
    "few": {
      "attempts": 6,
      "backoff": {"type": "full_jitter", "base": "101ms", "multiplier": 3, "cap": "2s"},
      "retry_after": {"max": "120s", "jitter": 0.2}
    }
  },
  "rules": [
    {
      "kind": "gone",
      "server": "answered",
      "when": [{"transport": "process", "exit_codes": [7], "sent": ["no"], "text": [{"in": "cause", "at": 1, "starts": ["gone"]}]}],
      "then": [{"if": {"write": true, "remote": false}, "stop": {"effects": "unknown", "remedy": "Look."}}, {"retry": "away"}]
    },
    {
      "kind": "drift",
      "when": [{"http_statuses": [409]}, {"signals": ["SIGBUS"], "effects": "none", "cause_count": 2, "write": true}, {"timed_out": true}],
      "then": [{"if": {"surface_conflict": false}, "retry": "few", "repair": {"times": "once", "on_failure": "stop"}}, {"stop": {"effects": "none", "outcome": "conflict"}}]
    },
    {"kind": "failed", "then": [{"stop": {"effects": "none"}}]}
  ]
}`

// change makes another document of tiny; what is replaced must stand there once.
func change(t testing.TB, pairs ...string) string {
	t.Helper()
	text := tiny
	for i := 0; i < len(pairs); i += 2 {
		if n := strings.Count(text, pairs[i]); n != 1 {
			t.Fatalf("%s stands %d times in the document", pairs[i], n)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// faults are what Parse finds wrong, as "path: message".
func faults(t testing.TB, text string) []string {
	t.Helper()
	_, err := Parse(text)
	if err == nil {
		return nil
	}
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeInvalidPolicy {
		t.Fatalf("got %v, want invalid_policy", err)
	}
	var list []string
	for _, f := range e.Faults {
		list = append(list, f.Error())
	}
	if len(list) > 0 && (e.Message != e.Faults[0].Message || e.Field != e.Faults[0].Field) {
		t.Errorf("the error %v is not the first of its faults %v", e, list)
	}
	return list
}

func TestTheTestDocumentIsValid(t *testing.T) {
	if got := faults(t, tiny); got != nil {
		t.Fatal(got)
	}
}

func TestParseReportsFaults(t *testing.T) {
	const (
		aDuration = `expected a positive duration with a unit, such as "150s" or "500ms", not `
		oneLimit  = "budgets.away: expected either max_wait or attempts: one limit decides"
	)
	for _, c := range []struct {
		name     string
		old, new string
		want     []string
	}{
		// The document.
		{"another version", `"version": 1`, `"version": 2`, []string{"version: expected 1, not 2"}},
		{"no version", `"version": 1,`, ``, []string{"version: is missing"}},
		{"a version with a fraction", `"version": 1`, `"version": 1.5`, []string{"version: expected 1, not 1.5"}},
		{"no name", `"name": "tiny",`, ``, []string{"name: is missing"}},
		{"a name with a space", `"name": "tiny"`, `"name": "my policy"`, []string{"name: " + aName + `, not "my policy"`}},
		{"a long name", `"name": "tiny"`, `"name": "` + strings.Repeat("x", 65) + `"`, []string{"name: " + aName + `, not "` + strings.Repeat("x", 65) + `"`}},
		{"an unknown field", `"version": 1`, `"version": 1, "retries": 3`, []string{"retries: is not a known field"}},
		{"a field in capitals", `"description"`, `"Description"`, []string{"Description: is not a known field"}},
		{"colours of another kind", `"version": 1`, `"version": 1, "colours": "red"`, []string{`colours: expected one of "removed", "kept", not "red"`}},
		{"a measured outage without its length", `"duration": "25s", `, ``, []string{"measured[0].duration: is missing"}},
		{"a measured outage of a number", `"duration": "25s"`, `"duration": 25`, []string{"measured[0].duration: " + aDuration + "25"}},
		{"a measured outage with another field", `"source": "measured"`, `"where": "here"`, []string{"measured[0].where: is not a known field"}},

		// max_wait and attempts.
		{"a window without a unit", `"max_wait": "60s"`, `"max_wait": "60"`, []string{"budgets.away.max_wait: " + aDuration + `"60"`}},
		{"a window that is a number", `"max_wait": "60s"`, `"max_wait": 60`, []string{"budgets.away.max_wait: " + aDuration + "60"}},
		{"a window of 0", `"max_wait": "60s"`, `"max_wait": "0s"`, []string{"budgets.away.max_wait: " + aDuration + `"0s"`}},
		{"a negative window", `"max_wait": "60s"`, `"max_wait": "-60s"`, []string{"budgets.away.max_wait: " + aDuration + `"-60s"`}},
		{"a window that is not a number", `"max_wait": "60s"`, `"max_wait": "NaNs"`, []string{"budgets.away.max_wait: " + aDuration + `"NaNs"`}},
		{"a window of null", `"max_wait": "60s"`, `"max_wait": null`, []string{"budgets.away.max_wait: " + aDuration + "null"}},
		{"a window in another unit", `"max_wait": "60s"`, `"max_wait": "60sec"`, []string{"budgets.away.max_wait: " + aDuration + `"60sec"`}},
		{"both limits", `"attempts": 6`, `"attempts": 6, "max_wait": "5s"`, []string{
			"budgets.few: expected either max_wait or attempts: one limit decides",
			"rules[1].then[0].repair: needs a retry on a budget of attempts, which bounds the repairs",
		}},
		{"no attempts", `"attempts": 6`, `"attempts": 0`, []string{"budgets.few.attempts: expected a whole number from 1 to 10000, not 0"}},
		{"negative attempts", `"attempts": 6`, `"attempts": -6`, []string{"budgets.few.attempts: expected a whole number from 1 to 10000, not -6"}},
		{"a fraction of attempts", `"attempts": 6`, `"attempts": 6.5`, []string{"budgets.few.attempts: expected a whole number from 1 to 10000, not 6.5"}},
		{"too many attempts", `"attempts": 6`, `"attempts": 10001`, []string{"budgets.few.attempts: expected a whole number from 1 to 10000, not 10001"}},
		{"no windows", `"windows": 2`, `"windows": 0`, []string{"budgets.away.windows: expected a whole number from 1 to 10000, not 0"}},
		{"negative broken connections", `"broken_connections": 1`, `"broken_connections": -1`, []string{"budgets.away.broken_connections: expected a whole number from 0 to 10000, not -1"}},
		{"windows of a budget without one", `"attempts": 6`, `"attempts": 6, "windows": 3`, []string{"budgets.few.windows: is not a known field"}},
		{"a budget that is no object", `"few": {`, `"few": 5, "other": {`, []string{
			"budgets.few: expected an object, not a number",
		}},
		{"a budget's name", `"few": {`, `"": {"attempts":1,"backoff":{"type":"linear","base":"1s","cap":"1s"}}, "few": {`, []string{"budgets.: " + aName}},

		// Backoff.
		{"base above cap", `"base": "500ms"`, `"base": "11s"`, []string{"budgets.away.backoff.base: is longer than the cap"}},
		{"no base", `"base": "500ms", `, ``, []string{"budgets.away.backoff.base: is missing"}},
		{"no cap", `, "cap": "10s"`, ``, []string{"budgets.away.backoff.cap: is missing"}},
		{"a base of 0", `"base": "500ms"`, `"base": "0ms"`, []string{"budgets.away.backoff.base: " + aDuration + `"0ms"`}},
		{"a multiplier below 1", `"multiplier": 2`, `"multiplier": 0.5`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not 0.5"}},
		{"a multiplier just below 1", `"multiplier": 2`, `"multiplier": 0.999999`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not 0.999999"}},
		{"a multiplier of 0", `"multiplier": 2`, `"multiplier": 0`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not 0"}},
		{"a negative multiplier", `"multiplier": 2`, `"multiplier": -2`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not -2"}},
		{"a huge multiplier", `"multiplier": 2`, `"multiplier": 1e300`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not 1e300"}},
		{"a multiplier with seven decimals", `"multiplier": 2`, `"multiplier": 1.0000001`, []string{"budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not 1.0000001"}},
		{"a multiplier that is a string", `"multiplier": 2`, `"multiplier": "NaN"`, []string{`budgets.away.backoff.multiplier: expected a number from 1 to 1000 with at most 6 decimals, not "NaN"`}},
		{"no multiplier", `"multiplier": 2, `, ``, []string{"budgets.away.backoff.multiplier: is missing"}},
		{"negative jitter", `"jitter": 0.1`, `"jitter": -0.1`, []string{"budgets.away.backoff.jitter: expected a number from 0 to 1 with at most 6 decimals, not -0.1"}},
		{"jitter above 1", `"jitter": 0.1`, `"jitter": 1.1`, []string{"budgets.away.backoff.jitter: expected a number from 0 to 1 with at most 6 decimals, not 1.1"}},
		{"another backoff", `"type": "exponential"`, `"type": "fibonacci"`, []string{`budgets.away.backoff.type: expected one of "exponential", "full_jitter", "linear", not "fibonacci"`}},
		{"no type of backoff", `"type": "exponential", `, ``, []string{"budgets.away.backoff.type: is missing"}},
		{"jitter of full jitter", `"base": "101ms"`, `"base": "101ms", "jitter": 0.1`, []string{"budgets.few.backoff.jitter: is not a known field"}},
		{"a multiplier of linear", `"type": "exponential"`, `"type": "linear"`, []string{"budgets.away.backoff.multiplier: is not a known field"}},
		{"jitter at the cap", `"jitter_at_cap": "kept"`, `"jitter_at_cap": "cutt"`, []string{`budgets.away.backoff.jitter_at_cap: expected one of "kept", "cut", not "cutt"`}},
		{"another way to meet the call's budget", `"call_budget": "clamp"`, `"call_budget": "stop"`, []string{`budgets.away.call_budget: expected one of "clamp", "ignore", "stop_above", "stop_at", not "stop"`}},
		{"a Retry-After bound of 0", `"max": "120s"`, `"max": "0s"`, []string{"budgets.few.retry_after.max: " + aDuration + `"0s"`}},
		{"a Retry-After bound without a unit", `"max": "120s"`, `"max": "120"`, []string{"budgets.few.retry_after.max: " + aDuration + `"120"`}},
		{"writes woken by a mere connection", `"writes": "ready"`, `"writes": "accepting"`, []string{`budgets.away.wake.writes: expected one of "ready", not "accepting"`}},
		{"a wake without a spread", `"spread": "100ms", `, ``, []string{"budgets.away.wake.spread: is missing"}},
		{"a wake without a hold-off", `"hold_off": "1s", `, ``, []string{"budgets.away.wake.hold_off: is missing"}},
		{"a wake without a bound", `, "max_vain": 3`, ``, []string{"budgets.away.wake.max_vain: is missing"}},
		{"no vain wakes", `"max_vain": 3`, `"max_vain": 0`, []string{"budgets.away.wake.max_vain: expected a whole number from 1 to 10000, not 0"}},
		{"a target in a document", `"max_vain": 3`, `"max_vain": 3, "url": "http://h/healthz"`, []string{"budgets.away.wake.url: is not a known field"}},

		// Rules.
		{"a rule on an unknown budget", `"retry": "away"`, `"retry": "afar"`, []string{`rules[0].then[1].retry: there is no budget called "afar"`}},
		{"a rule on a budget in capitals", `"retry": "away"`, `"retry": "Away"`, []string{`rules[0].then[1].retry: there is no budget called "Away"`}},
		{"the last rule is no catch-all", `{"kind": "failed", "then"`, `{"kind": "failed", "when": [{"exit_codes": [1]}], "then"`, []string{"rules[2].when: the last rule must match everything: leave it out"}},
		{"an empty condition", `[{"http_statuses": [409]},`, `[{},`, []string{"rules[1].when[0]: an empty condition would match everything"}},
		{"no conditions", `"when": [{"transport"`, `"when": [], "wen": [{"transport"`, []string{"rules[0].when: expected an array of at least one condition", "rules[0].wen: is not a known field"}},
		{"conditions that are an object", `"when": [{"http_statuses": [409]}, {"signals": ["SIGBUS"], "effects": "none", "cause_count": 2, "write": true}, {"timed_out": true}]`, `"when": {"timed_out": true}`, []string{"rules[1].when: expected an array, not an object"}},
		{"no kind", `"kind": "gone",`, ``, []string{"rules[0].kind: is missing"}},
		{"another contact", `"server": "answered"`, `"server": "seen"`, []string{`rules[0].server: expected one of "unseen", "answered", "broken", not "seen"`}},
		{"another transport", `"transport": "process"`, `"transport": "grpc"`, []string{`rules[0].when[0].transport: expected one of "process", "http", not "grpc"`}},
		{"a negative exit code", `"exit_codes": [7]`, `"exit_codes": [7, -1]`, []string{"rules[0].when[0].exit_codes[1]: expected a whole number from 0 to 65535, not -1"}},
		{"an exit code that is a string", `"exit_codes": [7]`, `"exit_codes": ["7"]`, []string{`rules[0].when[0].exit_codes[0]: expected a whole number from 0 to 65535, not "7"`}},
		{"no exit codes", `"exit_codes": [7]`, `"exit_codes": []`, []string{"rules[0].when[0].exit_codes: expected at least one number"}},
		{"another value of sent", `"sent": ["no"]`, `"sent": ["never"]`, []string{`rules[0].when[0].sent: expected one of "unknown", "no", "yes", not "never"`}},
		{"no value of sent", `"sent": ["no"]`, `"sent": []`, []string{`rules[0].when[0].sent: expected from 1 to 200 strings`}},
		{"a failure that no host sees", `"sent": ["no"]`, `"failures": ["broken"]`, []string{`rules[0].when[0].failures: expected one of "none", "unresolved", "unconnected", "untrusted", "broke", "stale", "cut", "malformed", not "broken"`}},
		{"several requests", `"sent": ["no"]`, `"only_request": false`, []string{"rules[0].when[0].only_request: can only be true"}},
		{"no Retry-After", `"sent": ["no"]`, `"retry_after": false`, []string{"rules[0].when[0].retry_after: can only be true"}},
		{"not timed out", `{"timed_out": true}`, `{"timed_out": false}`, []string{"rules[1].when[2].timed_out: can only be true"}},
		{"a cause count of 0", `"cause_count": 2`, `"cause_count": 0`, []string{"rules[1].when[1].cause_count: expected a whole number from 1 to 1000, not 0"}},
		{"another place", `"in": "cause", "at": 1`, `"in": "stdout"`, []string{`rules[0].when[0].text[0].in: expected one of "message", "cause", "anywhere", "shown", not "stdout"`}},
		{"a cause without its number", `"in": "cause", "at": 1`, `"in": "cause"`, []string{"rules[0].when[0].text[0].at: is missing"}},
		{"a number without a cause", `"in": "cause", "at": 1`, `"in": "message", "at": 1`, []string{"rules[0].when[0].text[0].at: is not a known field"}},
		{"a place without words", `, "starts": ["gone"]`, ``, []string{"rules[0].when[0].text[0]: expected one of is, starts, any, all and none"}},
		{"the start of anywhere", `"in": "cause", "at": 1`, `"in": "anywhere"`, []string{"rules[0].when[0].text[0]: is and starts need a place: message or cause"}},
		{"no tests of a text", `"text": [{"in": "cause", "at": 1, "starts": ["gone"]}]`, `"text": []`, []string{"rules[0].when[0].text: expected at least one test"}},
		{"an empty word", `"starts": ["gone"]`, `"starts": ["gone", ""]`, []string{`rules[0].when[0].text[0].starts[1]: expected a string of 1 to 1000 bytes, not ""`}},
		{"a word that is none", `"starts": ["gone"]`, `"starts": [true]`, []string{"rules[0].when[0].text[0].starts[0]: expected a string of 1 to 1000 bytes, not a boolean"}},
		{"no words", `"starts": ["gone"]`, `"starts": []`, []string{"rules[0].when[0].text[0].starts: expected from 1 to 200 strings"}},
		{"a rule without an end", `"then": [{"stop": {"effects": "none"}}]`, `"then": []`, []string{"rules[2].then: expected at least one branch"}},
		{"a rule without then", `, "then": [{"stop": {"effects": "none"}}]`, ``, []string{"rules[2].then: is missing"}},
		{"the last branch has an if", `{"retry": "away"}`, `{"if": {"write": false}, "retry": "away"}`, []string{"rules[0].then[1]: the last branch must hold for every call: no if, no repair once"}},
		{"the last branch repairs once", `, {"stop": {"effects": "none", "outcome": "conflict"}}`, ``, []string{"rules[1].then[0]: the last branch must hold for every call: no if, no repair once"}},
		{"neither retry nor stop", `{"retry": "away"}`, `{}`, []string{"rules[0].then[1]: expected either retry or stop"}},
		{"both retry and stop", `{"retry": "away"}`, `{"retry": "away", "stop": {"effects": "none"}}`, []string{"rules[0].then[1]: expected either retry or stop"}},
		{"an unknown question about the call", `"remote": false`, `"local": true`, []string{"rules[0].then[0].if.local: is not a known field"}},
		{"a stop that hides its effects", `{"effects": "unknown", "remedy": "Look."}`, `{"remedy": "Look."}`, []string{"rules[0].then[0].stop.effects: is missing"}},
		{"other effects", `{"effects": "unknown", "remedy"`, `{"effects": "some", "remedy"`, []string{`rules[0].then[0].stop.effects: expected one of "none", "unknown", not "some"`}},
		{"an outcome that denies unknown effects", `"effects": "unknown", "remedy"`, `"effects": "unknown", "outcome": "failed", "remedy"`, []string{"rules[0].then[0].stop.outcome: unknown effects are the outcome indeterminate"}},
		{"the outcome ok", `"outcome": "conflict"`, `"outcome": "ok"`, []string{`rules[1].then[1].stop.outcome: expected one of "failed", "conflict", "precondition_failed", "cancelled", not "ok"`}},
		{"a repair on a window", `{"retry": "away"}`, `{"retry": "away", "repair": {"times": "each", "on_failure": "stop"}}`, []string{"rules[0].then[1].repair: needs a retry on a budget of attempts, which bounds the repairs"}},
		{"a repair without a retry", `{"retry": "away"}`, `{"stop": {"effects": "none"}, "repair": {"times": "each", "on_failure": "stop"}}`, []string{"rules[0].then[1].repair: needs a retry on a budget of attempts, which bounds the repairs"}},
		{"how often a repair", `"times": "once", `, ``, []string{"rules[1].then[0].repair.times: is missing"}},
		{"what after a failed repair", `, "on_failure": "stop"`, ``, []string{"rules[1].then[0].repair.on_failure: is missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, faults(t, change(t, c.old, c.new))); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
	if got := faults(t, change(t, `"max_wait": "60s",`, ``)); len(got) == 0 || got[0] != oneLimit {
		t.Errorf("a budget without a limit: %v", got)
	}
}

func TestParseReportsAllFaultsAtOnce(t *testing.T) {
	text := change(t, `"name": "tiny"`, `"name": ""`, `"duration": "25s"`, `"duration": "25"`, `"max_wait": "60s"`, `"max_wait": 0`,
		`"multiplier": 2`, `"multiplier": 0.5`, `"retry": "away"`, `"retry": "afar"`, `"max": "120s"`, `"Max": "120s"`,
		`"in": "cause"`, `"in": "Cause"`, `{"kind": "failed", "then"`, `{"kind": "failed", "wen": 1, "then"`)
	var paths []string
	for _, f := range faults(t, text) {
		path, _, _ := strings.Cut(f, ": ")
		paths = append(paths, path)
	}
	want := []string{
		"name", "measured[0].duration", "budgets.away.max_wait", "budgets.away.backoff.multiplier",
		"budgets.few.retry_after.Max", "rules[0].when[0].text[0].in", "rules[0].when[0].text[0].at", "rules[2].wen",
		"rules[0].then[1].retry", // what names something elsewhere is looked at last
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("paths of the faults (-want +got):\n%s", diff)
	}
}

func TestParseRefusesWhatIsNoDocument(t *testing.T) {
	for _, c := range []struct{ name, text, message string }{
		{"nothing", "", "the policy is not JSON as it must be: the value ends too early at byte 0"},
		{"YAML", "version: 1", "the policy is not JSON as it must be: not a JSON value at byte 0"},
		{"trailing data", tiny + "{}", "the policy is not JSON as it must be: unexpected data after the value at byte "},
		{"a second document", tiny + "\n" + tiny, "the policy is not JSON as it must be: unexpected data after the value at byte "},
		{"half of one", tiny[:len(tiny)/2], "the policy is not JSON as it must be: "},
		{"NaN", change(t, `"multiplier": 2`, `"multiplier": NaN`), "the policy is not JSON as it must be: not a JSON value at byte "},
		{"a repeated field", change(t, `"name": "tiny"`, `"name": "tiny", "name": "tiny"`), `the policy is not JSON as it must be: member "name" is repeated at byte `},
		{"a repeated budget", change(t, `"few": {`, `"away": {`), `the policy is not JSON as it must be: member "away" is repeated at byte `},
		{"a deep one", strings.Repeat(`[`, abi.MaxDepth+1), "the policy is not JSON as it must be: nested deeper than 32 levels at byte 32"},
		{"100 MB", strings.Repeat(" ", tooLong()), "the policy is not JSON as it must be: longer than the 262144 bytes allowed at byte 262144"},
		{"an array", "[]", "expected an object, not an array"},
	} {
		_, err := Parse(c.text)
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeInvalidPolicy || !strings.HasPrefix(e.Message, c.message) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.message)
		}
	}
}

// tooLong is how long a document is that somebody sends by mistake.
func tooLong() int {
	if testing.Short() {
		return 1 << 20
	}
	return 100 << 20
}

// A document of 100 MB is refused for its length: it is not parsed, nor copied.
func TestParseDoesNotReadWhatIsTooLong(t *testing.T) {
	huge := strings.Repeat("[", tooLong())
	if n := testing.AllocsPerRun(5, func() { Parse(huge) }); n > 20 {
		t.Errorf("refusing it takes %v allocations", n)
	}
}

func TestParseBoundsCounts(t *testing.T) {
	rule := `{"kind": "other", "when": [{"timed_out": true}], "then": [{"stop": {"effects": "none"}}]},`
	last := `{"kind": "failed", "then"`
	if got := faults(t, change(t, last, strings.Repeat(rule, maxRules-3)+last)); got != nil {
		t.Errorf("200 rules: %v", got)
	}
	if got, want := faults(t, change(t, last, strings.Repeat(rule, maxRules-2)+last)), []string{"rules: expected from 1 to 200 rules"}; !cmp.Equal(got, want) {
		t.Errorf("201 rules: %v", got)
	}
	if got := faults(t, `{"version":1,"name":"x","budgets":{},"rules":[]}`); !cmp.Equal(got, []string{"rules: expected from 1 to 200 rules"}) {
		t.Errorf("no rules: %v", got)
	}
	budgets := ""
	for i := range maxBudgets - 2 {
		budgets += `"b` + number(int64(i)) + `": {"attempts": 1, "backoff": {"type": "linear", "base": "1s", "cap": "1s"}},`
	}
	if got := faults(t, change(t, `"few": {`, budgets+`"few": {`)); got != nil {
		t.Errorf("12 budgets: %v", got)
	}
	budgets += strings.Replace(budgets[:strings.Index(budgets, "},")+2], "b0", "more", 1)
	if got := faults(t, change(t, `"few": {`, budgets+`"few": {`)); !cmp.Equal(got, []string{"budgets: has more than 12 budgets"}) {
		t.Errorf("13 budgets: %v", got)
	}
	words := strings.Repeat(`"w",`, maxWords)
	if got := faults(t, change(t, `"starts": ["gone"]`, `"starts": [`+words+`"gone"]`)); !cmp.Equal(got, []string{"rules[0].when[0].text[0].starts: expected from 1 to 200 strings"}) {
		t.Errorf("201 words: %v", got)
	}
	if got := faults(t, change(t, `"starts": ["gone"]`, `"starts": ["`+strings.Repeat("w", maxWord+1)+`"]`)); len(got) != 1 {
		t.Errorf("a word of 1001 bytes: %v", got)
	}
	if got := faults(t, change(t, `"starts": ["gone"]`, `"starts": ["`+strings.Repeat("w", maxWord)+`"]`)); got != nil {
		t.Errorf("a word of 1000 bytes: %v", got)
	}
}

// parsed is the document of a text that has no faults.
func parsed(t testing.TB, text string) *Document {
	t.Helper()
	doc, err := Parse(text)
	if err != nil {
		t.Fatalf("%v: %v", err, err.(*abi.Error).Faults)
	}
	return doc
}

func FuzzParse(f *testing.F) {
	f.Add(tiny)
	for _, name := range Names() {
		f.Add(Source(name))
	}
	f.Add(`{"version":1,"name":"x","budgets":{},"rules":[{"kind":"failed","then":[{"stop":{"effects":"none"}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Parse(text)
		if err != nil {
			var e *abi.Error
			if !errors.As(err, &e) || e.Code != abi.CodeInvalidPolicy || e.Message == "" {
				t.Fatalf("got %v", err)
			}
			return
		}
		again, err := Parse(doc.Normal)
		if err != nil || again.Normal != doc.Normal || again.Digest != doc.Digest {
			t.Fatalf("the normal form of %q is refused or another: %v", text, err)
		}
	})
}
