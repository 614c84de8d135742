// Package verification checks whether a policy outlasts outages: in the plugin, on
// a virtual clock, with the worst jitter and the worst moment to begin.
package verification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/host"
	"outlast/outages"
	"outlast/simulate"
)

// Checker checks a policy.
type Checker struct {
	Plugin   *host.Plugin
	Policy   *host.Policy
	Failure  abi.Result    // how attempts end while the server is away
	Takes    time.Duration // that an attempt needs to fail
	Headroom float64       // how many times the longest outage must be outlasted
	Speaks   bool          // how an attempt fails may prove that a write was not sent
}

// Check checks reads and writes against each outage.
func (c *Checker) Check(ctx context.Context, list []outages.Outage) (*Report, error) {
	r := &Report{
		Policy: c.Policy.Name(), Digest: c.Policy.Digest(), AttemptDurationUS: c.Takes.Microseconds(),
		Headroom: c.Headroom, OK: true, Checks: []Check{}, NotRepeated: []Refused{}, outages: list,
	}
	for _, read := range []bool{true, false} {
		courses := c.courses(c.Policy, read)
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
		return nil, exit.Unusable(fmt.Errorf("the failure that is played is none that policy %s waits for: it takes it for %q. Say with --exit and --stderr-file (or --failure) how an attempt ends while the server is away", r.Policy, r.NotRepeated[0].Kind))
	}
	return r, c.size(ctx, r)
}

// courses are those of a policy, through the plugin.
func (c *Checker) courses(p *host.Policy, read bool) *simulate.Courses {
	call := host.Call{Label: "verify", Remote: true, Read: read, Seed: new(int64)}
	if !read && !c.Speaks {
		call.OneRequest = new(false)
	}
	return &simulate.Courses{
		New:     func() simulate.Decider { return c.Plugin.Session(p, call) },
		Takes:   c.Takes,
		Results: simulate.Results{Down: c.Failure},
	}
}

// size finds the smallest windows that would do, where the policy has windows.
func (c *Checker) size(ctx context.Context, r *Report) error {
	if _, err := c.Policy.WithMaxWait(time.Second); err != nil || r.Checks[0].NotProvable {
		return nil // it counts attempts, or too many of them
	}
	read := r.Checks[0].read
	with := func(window time.Duration) (*simulate.Courses, error) {
		changed, err := c.Policy.WithMaxWait(window)
		if err != nil {
			return nil, err
		}
		return c.courses(changed, read), nil
	}
	for _, size := range []struct {
		outage time.Duration
		to     *int64
	}{{r.longest(), &r.SmallestUS}, {r.needed(), &r.SmallestWithHeadroomUS}} {
		window, err := simulate.SmallestWindow(ctx, size.outage, c.Takes, with)
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
