package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"outlast/abi"
)

// outages are the measured restarts of testdata/outages.json.
func outages(t *testing.T) map[string]time.Duration {
	t.Helper()
	text, err := os.ReadFile("testdata/outages.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Outages []struct {
			Name    string
			Seconds float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Outages) < 2 {
		t.Fatalf("%d outages: %v", len(file.Outages), err)
	}
	lengths := map[string]time.Duration{}
	for _, o := range file.Outages {
		lengths[o.Name] = time.Duration(o.Seconds * float64(time.Second))
	}
	return lengths
}

// A restart is ridden out by reads and writes, wherever in it the call begins,
// whatever the jitter, and with as long again to spare.
func TestMeasuredOutagesAreSurvivedWithHeadroom(t *testing.T) {
	seeds := int64(20)
	if testing.Short() {
		seeds = 2
	}
	for name, length := range outages(t) {
		for policy, down := range map[string]abi.Result{"omnigraph": refused, "witan-core": refused, "network": unconnected} {
			for seed := range seeds {
				for _, took := range []time.Duration{0, 300 * ms, 3 * time.Second} {
					for _, call := range []abi.Call{read0(seed), write0(seed)} {
						left := length - time.Duration(seed)*length/40
						if p := play(t, builtin(t, policy), call, failsUntil(down, left, took)); p.outcome.Type != abi.OutcomeOK {
							t.Fatalf("%s by %s with %v to go: %s", name, policy, left, p.outcome.Encode())
						}
						if p := play(t, builtin(t, policy), call, failsUntil(down, 2*length, took)); p.outcome.Type != abi.OutcomeOK {
							t.Fatalf("twice %s by %s: %s", name, policy, p.outcome.Encode())
						}
					}
				}
			}
		}
	}
}

// The document says what was measured.
func TestMeasuredIsWhatWasMeasured(t *testing.T) {
	measured := outages(t)
	for _, policy := range Names() {
		doc := builtin(t, policy)
		if len(doc.Measured) != len(measured) {
			t.Errorf("%s has %d outages, %d were measured", policy, len(doc.Measured), len(measured))
		}
		for _, m := range doc.Measured {
			down, errDown := time.Parse(time.RFC3339, m.Down)
			up, errUp := time.Parse(time.RFC3339, m.Up)
			length := time.Duration(m.Duration) * time.Microsecond
			if errDown != nil || errUp != nil || up.Sub(down) != length || measured[m.Name] != length {
				t.Errorf("%s: %+v", policy, m)
			}
			if headroom := float64(doc.Budgets[0].MaxWait) / float64(m.Duration); headroom < 2 {
				t.Errorf("%s: a headroom of %.1f over %s", policy, headroom, m.Name)
			}
		}
	}
}

// The budget that gave up in the middle of a restart: twelve attempts, 0.5 s
// doubling to 5 s, about 42 s in all. As a window it is no better.
func TestTheOldBudgetsAreNotEnough(t *testing.T) {
	source := Source("omnigraph")
	start := strings.Index(source, `"unavailable": {`)
	end := strings.Index(source, `"admission_cap": {`)
	twelve := parsed(t, source[:start]+`"unavailable": {"attempts": 12, "backoff": {"type": "exponential", "base": "500ms", "multiplier": 2, "cap": "5s"}},`+source[end:])
	window, err := builtin(t, "omnigraph").WithMaxWait(42_500_000)
	if err != nil {
		t.Fatal(err)
	}
	for name, length := range outages(t) {
		for what, doc := range map[string]*Document{"twelve attempts": twelve, "a window of 42.5 s": window} {
			p := play(t, doc, read0(1), downUntil(length, 0))
			if p.outcome.Type != abi.OutcomeExhausted {
				t.Errorf("%s by %s: %s", name, what, p.outcome.Encode())
			}
			if p.end != 42_500*ms {
				t.Errorf("%s by %s: it gives up at %v", name, what, p.end)
			}
		}
	}
}

// The budget needs the longest outage, and the time of a connect, no more: the
// clamp gives the deadline itself an attempt.
func TestTheBudgetIsSpentToTheLastSecond(t *testing.T) {
	for _, outage := range []time.Duration{52 * time.Second, 56 * time.Second, 59_900 * ms, 60 * time.Second} {
		if p := play(t, steady(t, "60s"), read0(1), downUntil(outage, 0)); p.outcome.Type != abi.OutcomeOK || p.end > 60*time.Second {
			t.Errorf("an outage of %v: it ends at %v: %s", outage, p.end, p.outcome.Encode())
		}
	}
	if p := play(t, steady(t, "60s"), read0(1), downUntil(60_001*ms, 0)); p.outcome.Type != abi.OutcomeExhausted {
		t.Errorf("got %s", p.outcome.Encode())
	}
}
