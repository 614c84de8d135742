package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/library"
	"outlast/host"
	"outlast/simulate"
)

// Verdict is what a policy made of one case.
type Verdict struct {
	File   string   `json:"file"`
	Case   string   `json:"case"`
	Policy string   `json:"policy"`
	OK     bool     `json:"ok"`
	Faults []string `json:"faults,omitempty"` // how it differs from what is expected
}

// Try tries all cases of a file. The error is one of the policy or the plugin.
func (f *File) Try(ctx context.Context, plugin *host.Plugin) (list []Verdict, err error) {
	p, err := f.policy()
	if err != nil {
		return nil, err
	}
	add := func(name string, faults []string, err error) error {
		list = append(list, Verdict{f.Path, name, p.Name(), len(faults) == 0, faults})
		return err
	}
	for i := range f.Failures {
		c := &f.Failures[i]
		faults, err := c.try(ctx, plugin, p)
		if err := add(c.Name, faults, err); err != nil {
			return nil, err
		}
	}
	for i := range f.Outages {
		c := &f.Outages[i]
		faults, err := c.try(ctx, plugin, p)
		if err := add(c.Name, faults, err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// policy is the one that the file names: a file beside it comes before a name.
func (f *File) policy() (*host.Policy, error) {
	path := f.Policy
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(f.Path), path)
	}
	if _, err := os.Stat(path); err == nil {
		return library.Load(path)
	}
	return library.Load(f.Policy)
}

// call is what a host says of a call.
func call(c *abi.Call) host.Call {
	h := host.Call{
		Label: c.Label, Remote: c.Remote, Read: !c.Write, SurfaceConflict: c.SurfaceConflict, NoConnectRetry: !c.ConnectRetry,
		Repeatable: c.Repeatable, Budget: time.Duration(c.BudgetUS) * time.Microsecond, Seed: c.Seed,
		RefusesBeforeActing: c.RefusesBeforeActing, OneRequest: c.OneRequest,
	}
	if h.Seed == nil {
		h.Seed = new(int64)
	}
	return h
}

func (c *Failure) try(ctx context.Context, plugin *host.Plugin, p *host.Policy) (faults []string, err error) {
	a, err := plugin.Explain(ctx, p, call(&c.Call), c.Result)
	if err != nil {
		return nil, err
	}
	is := Decision{Action: string(a.Type), Kind: a.Kind, Budget: a.Budget}
	if a.Repair {
		is.Action = "repair"
	}
	if o := a.Outcome; o != nil {
		is.Outcome, is.Effects = string(o.Type), string(o.Effects)
	}
	for _, m := range []struct{ what, want, got string }{
		{"action", c.Expect.Action, is.Action}, {"kind", c.Expect.Kind, is.Kind}, {"budget", c.Expect.Budget, is.Budget},
		{"outcome", c.Expect.Outcome, is.Outcome}, {"effects", c.Expect.Effects, is.Effects},
	} {
		if m.want != "" && m.want != m.got {
			faults = append(faults, fmt.Sprintf("%s: expected %s, not %q", m.what, m.want, m.got))
		}
	}
	return faults, nil
}

func (c *Outage) try(ctx context.Context, plugin *host.Plugin, p *host.Policy) (faults []string, err error) {
	courses := simulate.Courses{
		New:   func() simulate.Decider { return plugin.Session(p, call(&c.Call)) },
		Takes: c.Takes, Results: simulate.Results{Down: c.Down},
	}
	extremes, err := courses.Extremes(ctx)
	var not *simulate.NotRetried
	var many *simulate.TooMany
	switch {
	case errors.As(err, &not):
		return c.compare(&not.Outcome), nil
	case errors.As(err, &many):
		return []string{many.Error()}, nil
	case err != nil:
		return nil, err
	}
	// The earlier in the outage a call begins the more of it there is to outlast.
	story, err := courses.Confirm(ctx, extremes[0], c.Lasts, 0)
	if err != nil {
		return nil, err
	}
	faults = c.compare(&story.Outcome)
	if len(faults) > 0 || c.Expect.Within == 0 {
		return faults, nil
	}
	worst := time.Duration(0)
	for _, course := range extremes {
		lag, _ := course.Lag(c.Lasts)
		worst = max(worst, lag)
	}
	if worst > c.Expect.Within {
		faults = []string{fmt.Sprintf("within: expected %v of the server's return, not %v", c.Expect.Within, worst)}
	}
	return faults, nil
}

func (c *Outage) compare(o *abi.Outcome) []string {
	if string(o.Type) == c.Expect.Outcome {
		return nil
	}
	return []string{fmt.Sprintf("outcome: expected %s, not %s: %s", c.Expect.Outcome, o.Type, o.Message)}
}
