package conformance

import (
	"context"
	"errors"

	"outlast/abi"
	"outlast/plugin/policy"
)

// direct is a small plugin around the policy, to try the runner on. spoil, if
// there is one, changes what it answers and what it gives to host functions.
type direct struct {
	spoil func(text []byte) []byte
}

func (d direct) Call(ctx context.Context, export string, input []byte, h Host) ([]byte, error) {
	var answer []byte
	switch export {
	case abi.ExportDecide:
		answer = d.decide(input)
	case abi.ExportRun:
		answer = d.run(ctx, input, h)
	default:
		return nil, errors.New("no such export")
	}
	if answer = d.spoilt(answer); answer == nil {
		return nil, errors.New("trapped")
	}
	return answer, nil
}

func (d direct) spoilt(text []byte) []byte {
	if d.spoil == nil {
		return text
	}
	return d.spoil(text)
}

func document(ref *abi.PolicyRef) (*policy.Document, error) {
	if ref.Name != "" {
		return policy.BuiltIn(ref.Name)
	}
	return policy.ParseWithin(ref.Document)
}

func (d direct) decide(input []byte) []byte {
	r, err := abi.DecodeDecide(string(input))
	if err != nil {
		return abi.EncodeError(err)
	}
	doc, err := document(&r.Policy)
	if err != nil {
		return abi.EncodeError(err)
	}
	action, state, err := policy.Decide(doc, &r.Call, r.State, &r.Event, r.Explain)
	if err != nil {
		return abi.EncodeError(err)
	}
	return abi.EncodeDecision(&action, state)
}

func (d direct) run(ctx context.Context, input []byte, h Host) []byte {
	r, err := abi.DecodeRun(string(input))
	if err != nil {
		return abi.EncodeError(err)
	}
	doc, err := document(&r.Policy)
	if err != nil {
		return abi.EncodeError(err)
	}
	state, event := r.State, r.First
	if event == nil {
		next := abi.Action{Type: abi.Retry, Attempt: 1, State: state}
		if state != "" {
			if next.Attempt, _, err = policy.Pending(doc, state); err != nil {
				return abi.EncodeError(err)
			}
		}
		if event, err = attempt(h.Attempt(ctx, d.spoilt(next.Encode()))); err != nil {
			return hostFailed("outlast_attempt")
		}
	}
	for {
		action, next, err := policy.Decide(doc, &r.Call, state, event, false)
		if err != nil {
			return abi.EncodeError(err)
		}
		if action.Type == abi.Stop {
			return (&abi.RunAnswer{Outcome: action.Outcome}).Encode()
		}
		state, action.State = next, next
		if action.DelayUS > 0 {
			slept, err := abi.DecodeSlept(string(h.Sleep(ctx, d.spoilt(action.Encode()))))
			if err != nil {
				return hostFailed("outlast_sleep")
			}
			if slept.Wait != abi.WaitFull {
				event = &abi.Event{Type: abi.Cancelled, NowUS: slept.NowUS}
				switch slept.Wait {
				case abi.WaitWoken:
					event = &abi.Event{Type: abi.Woken, NowUS: slept.NowUS, By: slept.By, Random: slept.Random}
				case abi.WaitDown:
					event = &abi.Event{Type: abi.Down, NowUS: slept.NowUS, Random: slept.Random}
				case abi.WaitNotReady:
					event = &abi.Event{Type: abi.NotReady, NowUS: slept.NowUS, Random: slept.Random}
				}
				continue
			}
		}
		if event, err = attempt(h.Attempt(ctx, d.spoilt(action.Encode()))); err != nil {
			return hostFailed("outlast_attempt")
		}
	}
}

func attempt(answer []byte) (*abi.Event, error) {
	e, err := abi.DecodeEvent(string(answer))
	return &e, err
}
