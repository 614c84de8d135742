package policy

import (
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/abi/strictjson"

	"github.com/google/go-cmp/cmp"
)

func TestOutcomeOfAnOutageThatDoesNotEnd(t *testing.T) {
	p := play(t, steady(t, "5s"), read0(1), always(step{100 * ms, refused}))
	want := &abi.Outcome{
		Type: abi.OutcomeExhausted, Kind: "unavailable", Effects: abi.EffectsNone, Reason: abi.ReasonWindow, Budget: "unavailable",
		BudgetAttempts: 5, BudgetSpentUS: 5_100_000, Attempts: 5, ElapsedUS: 5_200_000,
		Message:   "gave up after 5 attempts over 5.2 s: unavailable for 5.1 s; its max_wait is 5s",
		LastError: url + ": client error (Connect): tcp connect error: Connection refused (os error 111)",
		History: []abi.HistoryEntry{
			{Attempt: 1, AtUS: 100_000, Kind: "unavailable"}, {Attempt: 2, AtUS: 700_000, Kind: "unavailable"},
			{Attempt: 3, AtUS: 1_800_000, Kind: "unavailable"}, {Attempt: 4, AtUS: 3_900_000, Kind: "unavailable"},
			{Attempt: 5, AtUS: 5_200_000, Kind: "unavailable"},
		},
	}
	if diff := cmp.Diff(want, p.outcome); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The history keeps the first and the last four, numbered.
func TestHistory(t *testing.T) {
	p := play(t, steady(t, "75s"), read0(1), inOrder(
		step{0, capped}, step{0, refused}, step{0, refused}, step{0, refused}, step{0, refused}, step{0, refused},
		step{0, refused}, step{0, broken}, step{0, refused}, step{0, recovering}, step{0, done}))
	var got []string
	for _, h := range p.outcome.History {
		got = append(got, number(h.Attempt)+" "+h.Kind)
	}
	want := []string{
		"1 admission_cap", "2 unavailable", "3 unavailable", "4 unavailable", "7 unavailable", "8 interrupted", "9 unavailable", "10 recovery_required",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.outcome.Attempts != 11 || p.outcome.Kind != "recovery_required" || p.outcome.LastError != "" {
		t.Errorf("got %s", p.outcome.Encode())
	}
}

// The message is a sentence that tells which limit ended the call.
func TestMessages(t *testing.T) {
	retryOn := func(server, more string) *Document {
		return parsed(t, `{"version":1,"name":"x","budgets":{"b":{"max_wait":"5s","windows":2,`+more+
			`"backoff":{"type":"linear","base":"1s","cap":"1s"}}},"rules":[{"kind":"odd","server":"`+server+`","then":[{"retry":"b"}]}]}`)
	}
	for _, c := range []struct {
		name   string
		doc    *Document
		call   abi.Call
		script script
		want   string
	}{
		{"ok", steady(t, "5s"), write0(1), downUntil(600*ms, 0), "succeeded after 3 attempts over 1.5 s"},
		{"a window", steady(t, "5s"), write0(1), always(step{0, refused}), "gave up after 5 attempts over 5 s: unavailable for 5 s; its max_wait is 5s"},
		{"a window of another name", retryOn("unseen", ""), read0(1), always(step{0, strange}), "gave up after 6 attempts over 5 s: odd (budget b) for 5 s; its max_wait is 5s"},
		{"the call", steady(t, "150s"), with(read0(1), 700*ms), always(step{0, refused}), "gave up after 3 attempts over 0.7 s: unavailable when the call's own budget of 0.7 s ended"},
		{"attempts", steady(t, "150s"), write0(1), always(step{0, capped}), "gave up after 6 attempts over 7.8 s: admission_cap 6 times, all that it may be tried"},
		{"windows", retryOn("answered", ""), read0(1), always(step{0, strange}), "gave up after 3 attempts over 2 s: odd (budget b) again, after 2 outages in one call"},
		{"broken connections", steady(t, "150s"), read0(1), always(step{0, broken}), "gave up after 3 attempts over 1 s: interrupted (budget unavailable) again, after 3 broken connections in one call"},
		{"Retry-After", steady(t, "150s"), read0(1), always(step{0, after(200 * million)}), "gave up after 1 attempt over 0 s: admission_cap and the server asked for 200 s, longer than the 120s that is waited for"},
		{"Retry-After and the call", steady(t, "150s"), with(read0(1), time.Second), always(step{0, after(20 * million)}), "gave up after 1 attempt over 0 s: admission_cap and the server asked for 20 s, longer than the 1 s that are left of the call's own budget of 1 s"},
		{"Retry-After past both, the call's the smaller", steady(t, "150s"), with(read0(1), 30*time.Second), always(step{0, after(200 * million)}), "gave up after 1 attempt over 0 s: admission_cap and the server asked for 200 s, longer than the 30 s that are left of the call's own budget of 30 s"},
		{"Retry-After past both, the call's the larger", steady(t, "150s"), with(read0(1), 150*time.Second), always(step{0, after(200 * million)}), "gave up after 1 attempt over 0 s: admission_cap and the server asked for 200 s, longer than the 120s that is waited for"},
		{"a failed read", steady(t, "150s"), read0(1), always(step{1250 * ms, strange}), "failed after 1 attempt over 1.3 s"},
		{"a failed write", steady(t, "150s"), write0(1), always(step{0, strange}), "failed after 1 attempt over 0 s; it may have been applied: look before trying again"},
		{"a refused write", steady(t, "150s"), write0(1), always(step{0, usage}), "failed after 1 attempt over 0 s; nothing was applied"},
		{"a broken write", steady(t, "150s"), write0(1), inOrder(step{0, refused}, step{0, broken}), "interrupted after 2 attempts over 0.5 s; it may have been applied: look before trying again"},
		{"streamed", steady(t, "150s"), read0(1), always(step{0, abi.Result{TimedOut: true, Streamed: true}}), "timed_out after 1 attempt over 0 s: not tried again, since it cannot be repeated"},
		{"a streamed command", steady(t, "150s"), read0(1), always(step{0, abi.Result{Signal: "SIGKILL", TimedOut: true, Streamed: true}}), "timed_out after 1 attempt over 0 s: not tried again, since its output has been passed on"},
		{"a failed repair", steady(t, "150s"), localWrite(), inOrder(step{0, drifted}, step{0, panicked}), "needs_repair after 1 attempt over 0 s: the repair failed; nothing was applied"},
		{"cancelled", steady(t, "150s"), write0(1), inOrder(step{0, refused}, step{0, abi.Result{Signal: "SIGINT"}}), "cancelled after 2 attempts over 0.5 s; it may have been applied: look before trying again"},
	} {
		if got := play(t, c.doc, c.call, c.script).outcome.Message; got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// Nothing of the message, the remedy or the names is the attempt's: a caller
// that searches the message for markers finds none of the child's.
func TestMessagesNeverQuoteTheAttempt(t *testing.T) {
	for _, name := range Names() {
		for _, call := range []abi.Call{read0(1), write0(1), localWrite()} {
			for _, result := range []abi.Result{refused, broken, proxied, capped, lostRace, recovering, drifted, usage, strange, panicked, killed, timedOut} {
				o := play(t, builtin(t, name), call, always(step{0, result})).outcome
				words := strings.ToLower(o.Message + o.Remedy + o.Reason + o.Budget)
				for _, marker := range []string{"error sending", "client error", "tcp connect", "connection closed", "in-flight", "stale view", "pending mutation", "lance head", "unexpected argument", "panicked", "nobody has seen"} {
					if strings.Contains(words, marker) {
						t.Errorf("%s says %q", name, words)
					}
				}
			}
		}
	}
}

// A write's effects are none or unknown, a read's none.
func TestEffectsOfOutcomes(t *testing.T) {
	for _, c := range []struct {
		name    string
		result  abi.Result
		outcome abi.OutcomeType // of a write; of a read it is failed
		effects abi.Effects
	}{
		{"a usage error", usage, abi.OutcomeFailed, abi.EffectsNone},
		{"nobody knows", strange, abi.OutcomeIndeterminate, abi.EffectsUnknown},
		{"a panic", panicked, abi.OutcomeIndeterminate, abi.EffectsUnknown},
		{"a kill", killed, abi.OutcomeIndeterminate, abi.EffectsUnknown},
	} {
		if o := play(t, builtin(t, "omnigraph"), write0(1), always(step{0, c.result})).outcome; o.Type != c.outcome || o.Effects != c.effects || o.Attempts != 1 {
			t.Errorf("%s, a write: %s", c.name, o.Encode())
		}
		if o := play(t, builtin(t, "omnigraph"), read0(1), always(step{0, c.result})).outcome; o.Type != abi.OutcomeFailed || o.Effects != abi.EffectsNone || o.Attempts != 1 {
			t.Errorf("%s, a read: %s", c.name, o.Encode())
		}
	}
}

func TestSeconds(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "0 s", 49_999: "0 s", 50_000: "0.1 s", 100_000: "0.1 s", 149_999: "0.1 s", 150_000: "0.2 s", 999_999: "1 s", 1_000_000: "1 s",
		150_000_000: "150 s", strictjson.MaxInteger: "9007199254.7 s",
	} {
		if got := seconds(micros); got != want {
			t.Errorf("seconds(%d) = %q, want %q", micros, got, want)
		}
	}
}
