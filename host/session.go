package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"outlast/abi"
	"outlast/host/internal/engine"
)

// Session asks a plugin about one call, event by event, for callers with a loop
// of their own. It holds no instance between events and needs no Close. It is
// for one goroutine at a time.
type Session struct {
	plugin *Plugin
	policy *Policy
	call   abi.Call
	state  string
	over   bool  // an action to stop was given
	bad    error // what is wrong with the call
	task   *Task // for its observer; never nil
}

// Session starts a call. Its policy is Default where it is nil.
func (p *Plugin) Session(policy *Policy, call Call) *Session {
	return p.session(&Task{Policy: policy, Call: call})
}

func (p *Plugin) session(t *Task) *Session {
	return &Session{plugin: p, policy: t.policy(), call: t.Call.wire(), bad: t.Call.check(), task: t}
}

// wire is the call as the contract has it.
func (c *Call) wire() abi.Call {
	w := abi.Call{
		Label: strings.ToValidUTF8(c.Label, "?"), Remote: c.Remote, Write: !c.Read, SurfaceConflict: c.SurfaceConflict,
		ConnectRetry: !c.NoConnectRetry, BudgetUS: micros(c.Budget), Seed: c.Seed,
		OneRequest: c.OneRequest, Repeatable: c.Repeatable, RefusesBeforeActing: c.RefusesBeforeActing,
	}
	if c.Started != 0 {
		started := micros(c.Started)
		w.StartedUS = &started
	}
	if w.Seed == nil {
		seed := randomSeed()
		w.Seed = &seed
	}
	return w
}

// randomSeed is from 0 to 2^53-1, the contract's bound. If all callers had the same
// seed, those that met a restart together would come back together.
func randomSeed() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 11)
}

// Next answers an event. An action's delay counts from that event. After an
// action to stop the session is over. The context bounds the loading of the
// plugin, which the first event may cause. The error is a *PluginError, or says
// what is wrong with the call; the caller must stop, since what it has spent of
// its budgets is lost.
func (s *Session) Next(ctx context.Context, e abi.Event) (abi.Action, error) {
	switch {
	case s.bad != nil:
		return abi.Action{}, s.bad
	case s.over:
		return abi.Action{}, errors.New("outlast: the session is over: the policy has stopped the call")
	}
	if err := s.plugin.told(ctx, &s.call); err != nil {
		return abi.Action{}, &PluginError{Doing: "deciding", Err: err, LastResult: e.Result}
	}
	request := abi.DecideRequest{Policy: s.policy.ref(), Call: s.call, State: s.state, Event: s.plugin.toldOf(ctx, e)}
	action, err := s.decide(ctx, &request)
	s.plugin.reportLoad(s.task)
	if err != nil {
		return action, &PluginError{Doing: "deciding", Err: err, LastResult: e.Result}
	}
	s.over = action.Type != abi.Retry
	return action, nil
}

// decide replaces a failed instance once and asks again: a decision changes
// nothing but the state that it returns.
func (s *Session) decide(ctx context.Context, r *abi.DecideRequest) (action abi.Action, err error) {
	if s.plugin.native {
		s.plugin.crowd.aside(func() { action, err = s.decideNatively(r) })
		return action, err
	}
	action, err = s.decideOnce(ctx, r)
	if err == nil || isAnswer(err) {
		return action, err
	}
	s.task.observe(InstanceReplaced{Err: err})
	action, again := s.decideOnce(ctx, r)
	if again != nil {
		return action, fmt.Errorf("%w (and again: %w)", err, again)
	}
	return action, nil
}

func (s *Session) decideOnce(ctx context.Context, r *abi.DecideRequest) (action abi.Action, err error) {
	s.plugin.crowd.aside(func() {
		err = s.plugin.with(ctx, func(i *engine.Instance) error {
			err := s.ask(ctx, i, r, &action)
			if isUnknownPolicy(err) && r.Policy.Document == "" {
				whole := *r
				whole.Policy = s.policy.whole()
				err = s.ask(ctx, i, &whole, &action)
			}
			return err
		})
	})
	return action, err
}

func (s *Session) ask(ctx context.Context, i *engine.Instance, r *abi.DecideRequest, action *abi.Action) error {
	out, err := i.Call(ctx, abi.ExportDecide, r.Encode(), nil)
	if err != nil {
		return err
	}
	a, state, err := abi.DecodeDecision(string(out))
	if err == nil {
		*action, s.state = a, state
	}
	return err
}

func isUnknownPolicy(err error) bool {
	var answer *abi.Error
	return errors.As(err, &answer) && answer.Code == abi.CodeUnknownPolicy
}

// Explain asks what a policy makes of one result, as a call's first, and why:
// the action says which rule matched and by which words. The call needs a seed
// for the same answer each time.
func (p *Plugin) Explain(ctx context.Context, policy *Policy, call Call, result abi.Result) (abi.Action, error) {
	s := p.Session(policy, call)
	if err := p.told(ctx, &s.call); err != nil {
		return abi.Action{}, &PluginError{Doing: "explaining", Err: err, LastResult: &result}
	}
	request := abi.DecideRequest{
		Policy: s.policy.ref(), Call: s.call, Explain: true,
		Event: p.toldOf(ctx, abi.Event{Type: abi.Attempted, Result: &result}),
	}
	action, err := s.decide(ctx, &request)
	if err != nil {
		return action, &PluginError{Doing: "explaining", Err: err, LastResult: &result}
	}
	return action, nil
}
