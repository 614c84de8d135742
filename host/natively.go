package host

import (
	"fmt"

	"outlast/abi"
	"outlast/plugin/policy"
)

// decideNatively decides by the code that the embedded plugin is compiled from,
// about exactly what the plugin would be sent, and gives what it would answer: both
// pass through the contract's encoding. A panic is an error, as in the plugin.
func (s *Session) decideNatively(r *abi.DecideRequest) (action abi.Action, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = &abi.Error{Code: abi.CodeInternal, Message: fmt.Sprintf("panic: %v", fault)}
		}
	}()
	sent, err := abi.DecodeDecide(string(r.Encode()))
	if err != nil {
		return action, err
	}
	made, state, err := policy.Decide(s.policy.doc(), &sent.Call, sent.State, &sent.Event, sent.Explain)
	if err != nil {
		return action, err
	}
	action, s.state, err = abi.DecodeDecision(string(abi.EncodeDecision(&made, state)))
	return action, err
}
