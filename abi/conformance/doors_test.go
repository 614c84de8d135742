package conformance

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestCheckPassesWhatIsRight(t *testing.T) {
	for _, name := range []string{
		"refused-conflict-refused", "wake-vain-keeps-the-schedule", "cancel-in-a-wait", "repair-fails", "attempt-ends-at-the-deadline",
		"event-attempted-for-a-repair", "no-seed-no-chance", "measured-a-noticed", "state-of-1-0", "refused-state-cut", "refused-call-case",
		"host-sleep-word", "explain-causes",
	} {
		if problems := Check(t.Context(), direct{}, caseNamed(t, name)); problems != nil {
			t.Errorf("%s: %s", name, strings.Join(problems, "\n"))
		}
	}
}

// Each way to be wrong must be seen through every door that can show it.
func TestCheckCatchesWhatIsWrong(t *testing.T) {
	swap := func(old, new string) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(old), []byte(new)) }
	}
	every := []Door{DoorDecide, DoorRun, DoorFirst, DoorResumed}
	for _, test := range []struct {
		what, name string
		spoil      func([]byte) []byte
		doors      []Door
	}{
		{"a delay that is a microsecond longer", "refused-conflict-refused", swap(`"delay_us":1100000`, `"delay_us":1100001`), every},
		{"another kind", "refused-conflict-refused", swap(`"kind":"conflict"`, `"kind":"failed"`), every},
		{"a member too many", "refused-conflict-refused", swap(`"attempt":3,`, `"attempt":3,"hurry":true,`), every},
		{"a member too few", "refused-conflict-refused", swap(`"wake":{"by":"ready"},`, ""), []Door{DoorRun, DoorFirst, DoorResumed}},
		{"another outcome", "refused-conflict-refused", swap(`"type":"ok"`, `"type":"failed"`), every},
		{"a stop in a retry's place", "refused-conflict-refused", swap(`"type":"retry"`, `"type":"stop"`), every},
		{"no state", "refused-conflict-refused", swap(`"state":`, `"stated":`), every},
		{"a state of two lines", "refused-conflict-refused", swap(`"state":"o1`, `"state":"o1\n`), every},
		{"another version", "refused-conflict-refused", swap(`{"v":1`, `{"v":2`), every},
		{"no envelope", "refused-conflict-refused", swap(`{"v":1`, `{{"v":1`), every},
		{"an answer and an error", "refused-conflict-refused", swap(`{"v":1,`, `{"v":1,"error":{"code":"internal","message":"x"},`), every},
		{"an error without a message", "event-attempted-for-a-repair", swap(`"message"`, `"massage"`), every},
		{"another error", "event-attempted-for-a-repair", swap("bad_request", "bad_state"), every},
		{"another field", "event-attempted-for-a-repair", swap("event.type", "event"), every},
		{"a trap", "refused-conflict-refused", func([]byte) []byte { return nil }, every},
		{"an attempt too late", "measured-a-soonest", swap(`"delay_us":1000000`, `"delay_us":1000001`), []Door{DoorDecide, DoorRun}},
		{"another end of an outage", "measured-a-soonest", swap(`"attempts":11`, `"attempts":12`), []Door{DoorDecide, DoorRun}},
	} {
		t.Run(test.what, func(t *testing.T) {
			c := caseNamed(t, test.name)
			problems := Check(t.Context(), direct{spoil: test.spoil}, c)
			for _, door := range test.doors {
				if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, string(door)+": ") }) {
					t.Errorf("not seen through %s; seen: %s", door, strings.Join(problems, "\n"))
				}
			}
		})
	}
}
