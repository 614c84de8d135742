package main

import (
	"context"
	"fmt"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

type verifyVerb struct {
	pluginFlags
	sampleFlags
	Policy  string         `default:"omnigraph" placeholder:"NAME|FILE" help:"The policy to check (default: ${default})."`
	MaxWait *time.Duration `placeholder:"DURATION" help:"Check another window than the policy's."`
}

// Run lets the plugin ride out each outage that the policy was measured
// against, on a virtual clock, at the worst moment for a call to begin.
func (v *verifyVerb) Run(ctx context.Context) error {
	p, err := loadPolicy(v.Policy)
	if err != nil {
		return err
	}
	if p, err = withMaxWait(p, v.MaxWait); err != nil {
		return err
	}
	outages := p.Measured()
	if len(outages) == 0 {
		return unusable(fmt.Errorf("policy %s has no measured outages to check it against", p.Name()))
	}
	sample, err := v.failure()
	if err != nil {
		return err
	}
	plug, err := v.open()
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	failed := 0
	for _, o := range outages {
		outcome, err := outlive(ctx, plug, p, o.Duration, sample)
		if err != nil {
			return unusable(err)
		}
		if !report(o, outcome) {
			failed++
		}
	}
	if failed > 0 {
		return &exitError{exitNotOutlasted, fmt.Errorf("policy %s does not outlast %d of %d measured outages", p.Name(), failed, len(outages))}
	}
	return nil
}

// outlive is one call that begins as the server goes away. Each attempt fails
// at once, and seed by seed the jitter differs; the worst outcome is given.
func outlive(ctx context.Context, plug *host.Plugin, p *host.Policy, outage time.Duration, sample abi.Result) (worst *abi.Outcome, err error) {
	for seed := range int64(verifySeeds) {
		clock := &virtual.Clock{}
		outcome, err := plug.Run(ctx, &host.Task{
			Policy: p,
			Call:   host.Call{Label: "verify", Remote: true, Seed: &seed},
			Clock:  clock,
			Attempt: func(context.Context, int64) (abi.Result, error) {
				if clock.Now() < outage {
					return sample, nil
				}
				return abi.Result{ExitCode: new(int64)}, nil
			},
		})
		if err != nil {
			return nil, err
		}
		if outcome.Type == abi.OutcomeFailed || outcome.Type == abi.OutcomeIndeterminate {
			return nil, fmt.Errorf("policy %s does not retry the sample failure (%s): give one that it knows with --stderr-file", p.Name(), outcome.Kind)
		}
		if worst == nil || outcome.Type != abi.OutcomeOK || worst.Type == abi.OutcomeOK && outcome.ElapsedUS > worst.ElapsedUS {
			worst = outcome
		}
		if worst.Type != abi.OutcomeOK {
			break
		}
	}
	return worst, nil
}

// verifySeeds is how many courses of the jitter are tried (a choice).
const verifySeeds = 20

func report(o host.Outage, outcome *abi.Outcome) bool {
	took := time.Duration(outcome.ElapsedUS) * time.Microsecond
	if outcome.Type != abi.OutcomeOK {
		fmt.Printf("NOT outlasted  %v  %s: %s\n", o.Duration, o.Name, outcome.Message)
		return false
	}
	fmt.Printf("outlasted      %v  %s: back after at most %v, in %d attempts\n", o.Duration, o.Name, took.Round(time.Millisecond), outcome.Attempts)
	return true
}
