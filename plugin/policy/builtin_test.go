package policy

import (
	"testing"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	if got, want := Names(), []string{"omnigraph", "witan-core", "network"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v with the default of a command line first", got, want)
	}
}

func TestBuiltInsAreNamedAsTheySay(t *testing.T) {
	for _, name := range Names() {
		doc, err := BuiltIn(name)
		if err != nil || doc.Name != name {
			t.Errorf("%s is called %q, %v", name, doc.Name, err)
		}
		if again, _ := BuiltIn(name); again != doc {
			t.Errorf("%s is parsed each time", name)
		}
		if parsed(t, Source(name)).Digest != doc.Digest {
			t.Errorf("%s: its source is another policy", name)
		}
		if len(Source(name)) > 26<<10 {
			t.Errorf("%s has %d bytes", name, len(Source(name)))
		}
	}
}

func TestUnknownPolicy(t *testing.T) {
	for _, name := range []string{"", "Omnigraph", "omnigraph ", "nope"} {
		_, err := BuiltIn(name)
		e, ok := err.(*abi.Error)
		want := `there is no built-in policy called "` + name + `"; there are omnigraph, witan-core, network`
		if !ok || e.Code != abi.CodeUnknownPolicy || e.Field != "policy" || e.Message != want {
			t.Errorf("%q: got %v", name, err)
		}
		if Source(name) != "" {
			t.Errorf("%q has a source", name)
		}
	}
}

// The numbers that the design gives, and what they are sized against.
func TestNumbersOfTheBuiltIns(t *testing.T) {
	const second = million
	jittered := func(base, most int64, cut bool) Backoff {
		return Backoff{Shape: Exponential, Base: base, Multiplier: 2 * million, Cap: most, Jitter: million / 10, CutAtCap: cut}
	}
	want := map[string][]Budget{
		"omnigraph": {
			{
				Name: "unavailable", MaxWait: 150 * second, Windows: 3, Broken: 2, Backoff: jittered(second/2, 10*second, false), CallBudget: CallClamp,
				Wake: &WakeRule{Reads: abi.Accepting, Writes: abi.Ready, Spread: 30_000, Growth: 64 * million, Late: 75 * second, HoldOff: second, MaxVain: 3},
			},
			{
				Name: "admission_cap", Attempts: 6, Broken: -1, Backoff: jittered(second/4, 4*second, false), CallBudget: CallStopAbove,
				RetryAfter: &RetryAfter{Max: 120 * second, Jitter: million / 10, Floor: true},
			},
			{Name: "recovery", Attempts: 6, Broken: -1, Backoff: jittered(second/5, 3_200_000, false), CallBudget: CallClamp},
			{Name: "conflict", Attempts: 8, Broken: -1, Backoff: conflict, CallBudget: CallClamp},
		},
		"witan-core": {
			{Name: "unavailable", MaxWait: 150 * second, Broken: -1, Backoff: jittered(second/2, 10*second, true), CallBudget: CallIgnore},
			{Name: "admission_cap", Attempts: 6, Broken: -1, Backoff: jittered(second/4, 4*second, true), CallBudget: CallStopAbove, RetryAfter: &RetryAfter{}},
			{Name: "recovery", Attempts: 6, Broken: -1, Backoff: jittered(second/5, 3_200_000, true), CallBudget: CallIgnore},
			{Name: "conflict", Attempts: 8, Broken: -1, Backoff: conflict, CallBudget: CallStopAt},
		},
		"network": {
			{
				Name: "unavailable", MaxWait: 150 * second, Windows: 3, Broken: 2, Backoff: jittered(second/2, 10*second, false), CallBudget: CallClamp,
				RetryAfter: &RetryAfter{Max: 120 * second, Jitter: million / 10, Floor: true},
				Wake:       &WakeRule{Reads: abi.Accepting, Writes: abi.Ready, Spread: 30_000, Growth: 64 * million, Late: 75 * second, HoldOff: second, MaxVain: 3},
			},
			{Name: "stale_connection", Attempts: 200, Broken: -1, Backoff: jittered(1_000, 16_000, false), CallBudget: CallClamp},
			{
				Name: "busy", Attempts: 6, Broken: -1, Backoff: jittered(second/4, 4*second, false), CallBudget: CallStopAbove,
				RetryAfter: &RetryAfter{Max: 120 * second, Jitter: million / 10, Floor: true},
			},
		},
	}
	for name, budgets := range want {
		doc, _ := BuiltIn(name)
		if diff := cmp.Diff(budgets, doc.Budgets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(doc.Measured) != 2 || doc.Measured[0].Duration != 61*second || doc.Measured[1].Duration != 52*second {
			t.Errorf("%s is sized against %+v", name, doc.Measured)
		}
	}
}
