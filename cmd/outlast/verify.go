package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/host"
	"outlast/outages"
	"outlast/simulate"
)

type verifyVerb struct {
	wrap.PluginFlags
	sampleFlags
	Policy          string         `default:"omnigraph" placeholder:"NAME|FILE" help:"The policy to check (default: ${default})."`
	MaxWait         *time.Duration `placeholder:"DURATION" help:"Check another window than the policy's."`
	Outages         []string       `sep:"none" type:"existingfile" placeholder:"FILE" help:"Check it against the outages in this file too, as measure writes them. Repeatable."`
	AttemptDuration time.Duration  `placeholder:"DURATION" help:"How long an attempt takes to fail (default: no time)."`
	Headroom        float64        `default:"2" placeholder:"FACTOR" help:"How many times the longest outage must be outlasted (default: ${default}; 1: just outlasted)."`
	JSON            bool           `name:"json" help:"Print one JSON object."`
	JUnit           string         `name:"junit" placeholder:"FILE" help:"Write a JUnit report to this file too."`
}

// Help is shown below the flags.
func (*verifyVerb) Help() string {
	return "Plays the policy in the real plugin, on a virtual clock: with the worst course that the jitter can take, " +
		"and a call that begins at the worst moment. Exits with 1 if an outage is not outlasted, or not with the headroom."
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
	plug, err := v.Open(compiled)
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	r, err := v.verify(ctx, plug, p, list)
	if err != nil {
		return err
	}
	if v.JUnit != "" {
		if err := r.writeJUnit(v.JUnit); err != nil {
			return exit.Unusable(fmt.Errorf("--junit: %w", err))
		}
	}
	err = toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(r)
		}
		r.print(w)
		return nil
	})
	if err != nil {
		return err
	}
	return r.verdict()
}

func (v *verifyVerb) policy() (*host.Policy, error) {
	switch {
	case v.AttemptDuration < 0 || v.AttemptDuration > time.Hour:
		return nil, exit.Usage("--attempt-duration: expected a duration up to 1h, such as 3s, not %v", v.AttemptDuration)
	case !(v.Headroom >= 1 && v.Headroom <= 1000):
		return nil, exit.Usage("--headroom: expected a factor from 1 to 1000, not %v", v.Headroom)
	}
	p, err := library.Load(v.Policy)
	if err != nil {
		return nil, err
	}
	return library.WithMaxWait(p, v.MaxWait)
}

// measuredOutage is one outage to check against.
type measuredOutage struct {
	name   string
	lasts  time.Duration // as long as it may have lasted
	source string
}

func (v *verifyVerb) outages(p *host.Policy) ([]measuredOutage, error) {
	var list []measuredOutage
	for _, o := range p.Measured() {
		list = append(list, measuredOutage{o.Name, o.Duration, o.Source})
	}
	for _, path := range v.Outages {
		more, err := readOutages(path)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if len(list) == 0 {
		return nil, exit.Unusable(fmt.Errorf("policy %s has no measured outages to check it against: give some with --outages", p.Name()))
	}
	return list, nil
}

// readOutages reads a file of outages, each as long as it may have lasted.
func readOutages(path string) ([]measuredOutage, error) {
	read, err := outages.Read(path)
	if err != nil {
		return nil, exit.Unusable(err)
	}
	if len(read) == 0 {
		return nil, exit.Unusable(fmt.Errorf("%s: has no outages", path))
	}
	var list []measuredOutage
	for i := range read {
		list = append(list, measuredOutage{read[i].Name, read[i].Longest(), read[i].Source})
	}
	return list, nil
}

// verify checks reads and writes against each outage.
func (v *verifyVerb) verify(ctx context.Context, plug *host.Plugin, p *host.Policy, list []measuredOutage) (*verifyReport, error) {
	r := newVerifyReport(v, p, list)
	for _, read := range []bool{true, false} {
		courses, err := v.courses(plug, p, read)
		if err != nil {
			return nil, err
		}
		extremes, err := courses.Extremes(ctx)
		var not *simulate.NotRetried
		var many *simulate.TooMany
		switch {
		case errors.As(err, &many):
			r.unproven(read, many)
			continue
		case errors.As(err, &not):
			r.notRepeated(read, not)
			continue
		case err != nil:
			return nil, exit.Unusable(err)
		}
		for i := range list {
			if err := r.check(ctx, courses, extremes, i, read); err != nil {
				return nil, exit.Unusable(err)
			}
		}
	}
	if len(r.Checks) == 0 {
		return nil, exit.Unusable(fmt.Errorf("policy %s does not retry the sample failure, which is %s to it: give one that it waits through with --exit and --stderr-file", p.Name(), r.NotRepeated[0].Kind))
	}
	return r, v.size(ctx, plug, p, r)
}

// courses are those of a policy, through the plugin.
func (v *verifyVerb) courses(plug *host.Plugin, p *host.Policy, read bool) (*simulate.Courses, error) {
	sample, err := v.failure(p)
	if err != nil {
		return nil, err
	}
	call := host.Call{Label: "verify", Remote: true, Read: read, Seed: new(int64)}
	if !read && !wrap.ReadsSome(v.Policy, p) {
		call.OneRequest = new(false) // as run takes it
	}
	return &simulate.Courses{
		New:     func() simulate.Decider { return plug.Session(p, call) },
		Takes:   v.AttemptDuration,
		Results: simulate.Results{Down: sample},
	}, nil
}

// size finds the smallest windows that would do, where the policy has windows.
func (v *verifyVerb) size(ctx context.Context, plug *host.Plugin, p *host.Policy, r *verifyReport) error {
	if _, err := p.WithMaxWait(time.Second); err != nil || r.Checks[0].NotProvable {
		return nil // it counts attempts, or too many of them
	}
	read := r.Checks[0].read
	with := func(window time.Duration) (*simulate.Courses, error) {
		changed, err := p.WithMaxWait(window)
		if err != nil {
			return nil, err
		}
		return v.courses(plug, changed, read)
	}
	for _, size := range []struct {
		outage time.Duration
		to     *int64
	}{{r.longest(), &r.SmallestUS}, {r.needed(), &r.SmallestWithHeadroomUS}} {
		window, err := simulate.SmallestWindow(ctx, size.outage, v.AttemptDuration, with)
		var many *simulate.TooMany
		switch {
		case errors.As(err, &many): // the windows that would do are too long for it
			r.SmallestUS, r.SmallestWithHeadroomUS = 0, 0
			return nil
		case err != nil:
			return exit.Unusable(err)
		}
		*size.to = window.Microseconds()
	}
	return nil
}

// compiled is worth the second that it takes once, for thousands of decisions.
var compiled = host.WithCompiler()
