package host

import (
	"outlast/abi"
	"outlast/plugin/policy"
)

// endsAtOnce is the outcome of a call whose first failure ends it: a command
// that fails for good is not made to wait until the plugin is loaded. nil: the
// plugin has to be asked.
//
// The code that the embedded plugin is compiled from decides, about exactly what
// the plugin would have been sent. So it is done for no other plugin.
func (p *Plugin) endsAtOnce(d *driver, call abi.Call, first *abi.Event) *abi.Outcome {
	if p.source != embedded {
		return nil
	}
	request := abi.RunRequest{Policy: abi.PolicyRef{Name: d.task.policy().Name()}, Call: call, First: first}
	sent, err := abi.DecodeRun(string(request.Encode()))
	if err != nil {
		return nil
	}
	action, _, err := policy.Decide(d.task.policy().doc(), &sent.Call, "", sent.First, false)
	if err == nil {
		d.lookOut(action.Wake) // now, so that the server is seen away while the plugin is loaded
	}
	if err != nil || action.Type != abi.Stop {
		return nil
	}
	answer, err := abi.DecodeRunAnswer(string((&abi.RunAnswer{Outcome: action.Outcome}).Encode()))
	if err != nil {
		return nil
	}
	return answer.Outcome
}
