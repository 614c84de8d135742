package conformance

import (
	"encoding/json"
	"fmt"
)

// maxState is the contract's bound of a state, in bytes.
const maxState = 1024

// action is what a runner must know of an action.
type action struct {
	Type    string          `json:"type"`
	DelayUS int64           `json:"delay_us"`
	Outcome json.RawMessage `json:"outcome"`
	State   string          `json:"state"`
	Wake    *struct {
		By      string `json:"by"`
		AfterUS int64  `json:"after_us"`
	} `json:"wake"`
}

// firstAction is what asks for a call's first attempt.
const firstAction = `{"type":"retry","attempt":1,"delay_us":0}`

func readAction(text []byte) (action, error) {
	var a action
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("not an action: %w: %.200s", err, text)
	}
	return a, nil
}

// parted splits an action that run gives to a host function into the action as
// decide would have it, and its state.
func parted(text []byte) (plain []byte, state string, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, "", fmt.Errorf("not an action: %w: %.200s", err, text)
	}
	if s, ok := members["state"]; ok {
		if err := json.Unmarshal(s, &state); err != nil {
			return nil, "", fmt.Errorf("the state is no string: %w", err)
		}
		delete(members, "state")
	}
	plain, err = json.Marshal(members)
	return plain, state, err
}

// stateProblems checks what the contract says of every state.
func stateProblems(state string, wanted bool) []string {
	switch {
	case !wanted && state != "":
		return []string{"a state comes with a stop"}
	case wanted && state == "":
		return []string{"no state comes with a retry"}
	case len(state) > maxState:
		return []string{fmt.Sprintf("a state of %d bytes", len(state))}
	}
	for _, b := range []byte(state) {
		if b <= ' ' || b > '~' || b == '"' || b == '\\' {
			return []string{fmt.Sprintf("a state with the byte %#x", b)}
		}
	}
	return nil
}
