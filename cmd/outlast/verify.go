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
	if sample.OK() {
		return usageError("verify: the sample is a success: give a failure that the policy waits through")
	}
	plug, err := v.open()
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	failed := 0
	for _, o := range outages {
		lasts := true
		for _, read := range []bool{true, false} {
			outcome, err := outlive(ctx, plug, p, o.Duration, read, sample)
			if err != nil {
				return unusable(err)
			}
			lasts = report(o, read, outcome) && lasts
		}
		if !lasts {
			failed++
		}
	}
	if failed > 0 {
		return &exitError{exitNotOutlasted, fmt.Errorf("policy %s does not outlast %s of %d", p.Name(), count(failed, "measured outage"), len(outages))}
	}
	return nil
}

// outlive is one call that begins as the server goes away. Each attempt fails
// at once, and seed by seed the jitter differs; the worst outcome is given.
func outlive(ctx context.Context, plug *host.Plugin, p *host.Policy, outage time.Duration, read bool, sample abi.Result) (worst *abi.Outcome, err error) {
	for seed := range int64(verifySeeds) {
		clock := &virtual.Clock{}
		outcome, err := plug.Run(ctx, &host.Task{
			Policy: p,
			Call:   host.Call{Label: "verify", Remote: true, Read: read, Seed: &seed},
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
		if outcome.Type != abi.OutcomeOK && outcome.Type != abi.OutcomeExhausted {
			return nil, fmt.Errorf("policy %s does not retry the sample failure, which is %s to it: give one that it waits through with --exit and --stderr-file", p.Name(), outcome.Kind)
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

func report(o host.Outage, read bool, outcome *abi.Outcome) bool {
	verdict, detail := "NOT outlasted", outcome.Message
	if outcome.Type == abi.OutcomeOK {
		took := time.Duration(outcome.ElapsedUS) * time.Microsecond
		verdict = "outlasted"
		detail = fmt.Sprintf("back after %s in the worst of %d courses of the jitter", seconds(took), verifySeeds)
	}
	fmt.Printf("%-13s  %5s  %s, %s: %s\n", verdict, seconds(o.Duration), o.Name, choose(read, "a read", "a write"), detail)
	return outcome.Type == abi.OutcomeOK
}
