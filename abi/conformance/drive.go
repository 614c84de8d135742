package conformance

import (
	"context"
	"encoding/json"
	"fmt"
)

// driven is a loop around decide, as a simple host has it. It gives what run
// would give: an envelope around the outcome, or around an error.
type driven struct {
	p       Plugin
	h       Host
	request requestOf
	// stopped is told the action that ends the loop, which h does not meet.
	stopped func(action []byte)
}

// loop runs until the policy stops. Problems are breaches of the contract that
// no case has to mention.
func (d *driven) loop(ctx context.Context) (answer []byte, problems []string, err error) {
	d.request.Event = d.h.Attempt(ctx, []byte(firstAction))
	if d.request.Event == nil {
		return hostFailed("outlast_attempt"), nil, nil
	}
	for {
		answer, err := d.p.Call(ctx, "decide", d.request.bytes(), nil)
		if err != nil {
			return nil, problems, err
		}
		e, err := opened(answer)
		if err != nil || e.Error != nil {
			return answer, problems, err
		}
		var ok struct {
			Action json.RawMessage `json:"action"`
			State  string          `json:"state"`
		}
		if err := json.Unmarshal(e.OK, &ok); err != nil {
			return nil, problems, fmt.Errorf("decide's answer: %w: %s", err, answer)
		}
		a, err := readAction(ok.Action)
		if err != nil {
			return nil, problems, err
		}
		problems = append(problems, stateProblems(ok.State, a.Type == "retry")...)
		if a.Type != "retry" {
			d.stopped(ok.Action)
			return fmt.Appendf(nil, `{"v":1,"ok":{"outcome":%s}}`, orNull(a.Outcome)), problems, nil
		}
		d.request.State = ok.State
		if failed := d.follow(ctx, ok.Action, a.DelayUS); failed != "" {
			return hostFailed(failed), problems, nil
		}
	}
}

// follow does what a retry asks for and keeps the event. It names the host
// function that failed, if one did.
func (d *driven) follow(ctx context.Context, action json.RawMessage, delay int64) (failed string) {
	if delay > 0 {
		slept := d.h.Sleep(ctx, action)
		var s struct {
			Wait   string `json:"wait"`
			By     string `json:"by"`
			NowUS  int64  `json:"now_us"`
			Random *int64 `json:"random"`
		}
		if json.Unmarshal(slept, &s) != nil {
			return "outlast_sleep"
		}
		step := Step{Random: s.Random}
		switch s.Wait {
		case "woken":
			step.Woken = s.By
		case "down":
			step.Down = true
		case "not_ready":
			step.NotReady = true
		case "cancelled":
			step.Cancelled = json.RawMessage("true")
		}
		if step.leftOut() != "" || step.cutsShort() {
			d.request.Event = step.event(s.NowUS)
			return ""
		}
	}
	if d.request.Event = d.h.Attempt(ctx, action); d.request.Event == nil {
		return "outlast_attempt"
	}
	return ""
}

func orNull(m json.RawMessage) json.RawMessage {
	if m == nil {
		return json.RawMessage("null")
	}
	return m
}

// hostFailed is the envelope that run answers where a host function fails.
func hostFailed(function string) []byte {
	return fmt.Appendf(nil, `{"v":1,"error":{"code":"host_failed","message":"no answer","field":%q}}`, function)
}
