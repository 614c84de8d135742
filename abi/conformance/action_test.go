package conformance

import (
	"slices"
	"testing"
)

func TestStateProblems(t *testing.T) {
	good := string(slices.Repeat([]byte("o"), maxState))
	for state, wanted := range map[string]bool{good: true, "": false} {
		if problems := stateProblems(state, wanted); problems != nil {
			t.Errorf("%.20q: %q", state, problems)
		}
	}
	for _, state := range []string{"", good + "o", "a b", "a\n", "é", `a"b`, `a\b`} {
		if stateProblems(state, true) == nil {
			t.Errorf("%.20q passes", state)
		}
	}
	if stateProblems("o", false) == nil {
		t.Error("a state with a stop passes")
	}
}

func TestParted(t *testing.T) {
	plain, state, err := parted([]byte(`{"type":"retry","state":"o1","delay_us":5}`))
	if err != nil || state != "o1" || same("plain", []byte(`{"type":"retry","delay_us":5}`), plain) != nil {
		t.Errorf("got %s, %q, %v", plain, state, err)
	}
	if plain, state, err := parted([]byte(`{"type":"stop"}`)); err != nil || state != "" || string(plain) != `{"type":"stop"}` {
		t.Errorf("got %s, %q, %v", plain, state, err)
	}
	for _, text := range []string{``, `[]`, `{"state":1}`} {
		if _, _, err := parted([]byte(text)); err == nil {
			t.Errorf("%q is taken for an action", text)
		}
	}
}
