package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/sample"
	"outlast/cmd/outlast/internal/verification"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/host"
	"outlast/outages"
)

type verifyVerb struct {
	wrap.PluginFlags
	sample.Flags
	Policy          string         `default:"omnigraph" placeholder:"NAME|FILE" help:"The policy to check (default: ${default})."`
	MaxWait         *time.Duration `placeholder:"DURATION" help:"Check another window than the policy's."`
	Spread          *time.Duration `placeholder:"DURATION" help:"Check another spread of woken callers than the policy's."`
	Outages         []string       `sep:"none" type:"existingfile" placeholder:"FILE" help:"Check it against the outages in this file, as measure writes them, and not those that the policy names as measured. Repeatable."`
	AttemptDuration time.Duration  `placeholder:"DURATION" help:"How long an attempt takes to fail (default: no time)."`
	verification.FleetFlags
	Headroom float64 `default:"2" placeholder:"FACTOR" help:"How many times the longest outage must be outlasted (default: ${default}; 1: just outlasted)."`
	JSON     bool    `name:"json" help:"Print one JSON object."`
	JUnit    string  `name:"junit" placeholder:"FILE" help:"Write a JUnit report to this file too."`
}

// Help is shown below the flags.
func (*verifyVerb) Help() string {
	return "Plays the policy by the code that run decides by, on a virtual clock: with the worst course that the jitter can take, " +
		"and a call that begins at the worst moment. Exits with 1 if an outage is not outlasted, or not with the headroom, " +
		"or if --callers that come back together would knock the server over, or are more than it carries out in what the window leaves."
}

// Run checks a policy against the outages that it was sized against.
func (v *verifyVerb) Run(ctx context.Context) error {
	p, err := v.policy()
	if err != nil {
		return err
	}
	list, err := v.outages(p)
	if err != nil {
		return err
	}
	plug, err := v.OpenPlugin()
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	c := verification.Checker{
		Plugin: plug, Policy: p, Takes: v.AttemptDuration, Headroom: v.Headroom,
	}
	if c.Failure, err = v.OrRefused(p); err != nil {
		return err
	}
	c.Speaks = wrap.UnderstandsAny(v.Policy, p) || !c.Failure.IsProcess()
	r, err := c.Check(ctx, list)
	if err != nil {
		return err
	}
	if err := c.CheckFleet(ctx, r, &v.FleetFlags); err != nil {
		return err
	}
	if v.JUnit != "" {
		if err := r.WriteJUnit(v.JUnit); err != nil {
			return exit.Unusable(fmt.Errorf("--junit: %w", err))
		}
	}
	err = toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(r)
		}
		r.Print(w)
		return nil
	})
	if err != nil {
		return err
	}
	return r.Verdict()
}

func (v *verifyVerb) policy() (*host.Policy, error) {
	switch {
	case v.AttemptDuration < 0 || v.AttemptDuration > time.Hour:
		return nil, exit.Usage("--attempt-duration: expected a duration up to 1h, such as 3s, not %v", v.AttemptDuration)
	case v.FleetFlags.Check() != nil:
		return nil, v.FleetFlags.Check()
	case !(v.Headroom >= 1 && v.Headroom <= 1000):
		return nil, exit.Usage("--headroom: expected a factor from 1 to 1000, not %v", v.Headroom)
	}
	p, err := library.Load(v.Policy)
	if err != nil {
		return nil, err
	}
	return library.Adjusted(p, v.MaxWait, v.Spread)
}

func (v *verifyVerb) outages(p *host.Policy) ([]outages.Outage, error) {
	if len(v.Outages) > 0 { // those of the policy are of somebody's server, and maybe not of yours
		return sample.Outages(v.Outages)
	}
	list := sample.Measured(p)
	if len(list) == 0 {
		return nil, exit.Unusable(fmt.Errorf("policy %s has no measured outages to check it against: give some with --outages", p.Name()))
	}
	return list, nil
}
