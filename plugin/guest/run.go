package main

import (
	"outlast/abi"
	"outlast/plugin/policy"
)

// host is what run asks of its host. "" as an answer means that it failed.
type host interface {
	now() string
	sleep(action []byte) string
	attempt(action []byte) string
}

// run is the whole loop: it attempts, decides and sleeps through the host until
// the policy stops, or until MaxRunAttempts, when it gives back what to go on with.
func run(input string, h host) ([]byte, error) {
	r, err := abi.DecodeRun(input)
	if err != nil {
		return nil, err
	}
	l := &loop{host: h, call: r.Call, state: r.State}
	if l.doc, err = find(&r.Policy); err != nil {
		return nil, err
	}
	if err := l.start(r.First); err != nil {
		return nil, err
	}
	for {
		action, state, err := policy.Decide(l.doc, &l.call, l.state, &l.event, false)
		switch {
		case err != nil:
			return nil, err
		case action.Type == abi.Stop:
			return (&abi.RunAnswer{Outcome: action.Outcome}).Encode(), nil
		}
		l.state = state
		if err := l.follow(action); err != nil {
			return nil, err
		}
		if l.attempts >= abi.MaxRunAttempts {
			return (&abi.RunAnswer{Continue: &abi.Continue{State: l.state, First: l.event}}).Encode(), nil
		}
	}
}

type loop struct {
	host     host
	doc      *policy.Document
	call     abi.Call
	state    string
	event    abi.Event
	attempts int // of this call of run
}

// start makes the first event: the attempt that the host has made before it
// loaded the plugin, or the next attempt.
func (l *loop) start(first *abi.Event) error {
	if first != nil {
		l.event = *first
		return nil
	}
	if l.call.StartedUS == nil && l.state == "" {
		answer := l.host.now()
		if answer == "" {
			return failed(abi.HostNow, "gave no answer")
		}
		now, err := abi.DecodeNow(answer)
		if err != nil {
			return failed(abi.HostNow, err.Error())
		}
		l.call.StartedUS = &now
	}
	next := abi.Action{Type: abi.Retry, Attempt: 1, State: l.state}
	if l.state != "" {
		// Before the attempt, which must not be made for a state that is refused.
		attempt, repair, err := policy.Pending(l.doc, l.state)
		switch {
		case err != nil:
			return err
		case repair:
			return &abi.Error{Code: abi.CodeBadRequest, Field: "first", Message: "is missing: a repair was asked for, and only the host knows how it ended"}
		}
		next.Attempt = attempt
	}
	return l.attempt(next)
}

// follow does what a retry says: wait, unless that is cut short by an event of
// its own, and attempt or repair.
func (l *loop) follow(action abi.Action) error {
	action.State = l.state
	if action.DelayUS > 0 {
		answer := l.host.sleep(action.Encode())
		if answer == "" {
			return failed(abi.HostSleep, "gave no answer")
		}
		slept, err := abi.DecodeSlept(answer)
		if err != nil {
			return failed(abi.HostSleep, err.Error())
		}
		switch slept.Wait {
		case abi.WaitWoken:
			l.event = abi.Event{Type: abi.Woken, NowUS: slept.NowUS, By: slept.By, Random: slept.Random}
			return nil
		case abi.WaitDown:
			l.event = abi.Event{Type: abi.Down, NowUS: slept.NowUS, Random: slept.Random}
			return nil
		case abi.WaitNotReady:
			l.event = abi.Event{Type: abi.NotReady, NowUS: slept.NowUS, Random: slept.Random}
			return nil
		case abi.WaitCancelled:
			l.event = abi.Event{Type: abi.Cancelled, NowUS: slept.NowUS}
			return nil
		}
	}
	return l.attempt(action)
}

func (l *loop) attempt(action abi.Action) error {
	l.attempts++
	answer := l.host.attempt(action.Encode())
	if answer == "" {
		return failed(abi.HostAttempt, "gave no answer")
	}
	event, err := abi.DecodeEvent(answer)
	switch {
	case err != nil:
		return failed(abi.HostAttempt, err.Error())
	case event.Type == abi.Woken, event.Type.EndsWait():
		return failed(abi.HostAttempt, `answered "`+string(event.Type)+`", which ends a sleep`)
	}
	l.event = event
	return nil
}

func failed(function, how string) error {
	return &abi.Error{Code: abi.CodeHostFailed, Field: function, Message: "the host function " + how}
}
