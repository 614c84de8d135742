// Package simulation plays what the flags of simulate describe, and shows it as a
// page, a chart, a figure or JSON.
package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/sample"
	"outlast/cmd/outlast/internal/words"
	"outlast/commands"
	"outlast/host"
	"outlast/outages"
	"outlast/plugin/policy"
	"outlast/simulate"
	"outlast/simulate/plot"
)

// Flags say what is simulated.
type Flags struct {
	sample.Flags
	Policy          []string       `sep:"none" placeholder:"NAME|FILE[,SETTING=VALUE]" help:"The policy (default: omnigraph); several are put side by side. Settings: max-wait=75s, spread=5s, ready=on."`
	MaxWait         *time.Duration `placeholder:"DURATION" help:"Another window than the policies'."`
	Spread          *time.Duration `placeholder:"DURATION" help:"Another spread of woken callers than the policies'."`
	Ready           string         `enum:"on,off" default:"off" placeholder:"on|off" help:"Whether the server is watched, so that its return is noticed (default: ${default})."`
	Outage          *string        `placeholder:"LENGTH[@WHEN],…" help:"When the server is away: 61s, or 20s@5s,30s@70s, or uniform:52s..61s. Default: the longest that the policy was measured against."`
	Outages         []string       `sep:"none" type:"existingfile" placeholder:"FILE" help:"The outages in this file, as measure writes them: the longest, or with --runs any of them."`
	Loading         time.Duration  `placeholder:"DURATION" help:"For so long after each outage the server is there, but loading: a host that watches (--ready on) sees that, and attempts still fail."`
	Begin           *time.Duration `placeholder:"DURATION" help:"When the call begins, on the clock of --outage (default: with the first outage)."`
	AttemptDuration time.Duration  `placeholder:"DURATION" help:"How long an attempt takes to fail (default: no time)."`
	Read            bool           `xor:"what" help:"The call changes nothing, so it may be repeated."`
	Write           bool           `xor:"what" help:"The call may change something (default)."`
	Seed            int64          `default:"1" placeholder:"N" help:"The seed of everything that is left to chance (default: ${default})."`
	Runs            int            `default:"1" placeholder:"N" help:"Play so many calls, each with a jitter and an outage of its own, and show the worst."`
	fleetFlags
	JSON  bool     `name:"json" help:"Print one JSON object."`
	Plot  []string `sep:"none" placeholder:"FILE" help:"Draw it, as FILE.svg or FILE.png. Repeatable."`
	Chart bool     `default:"true" negatable:"" help:"Draw it in the terminal too (default: yes)."`
}

// variant is one policy with its settings.
type variant struct {
	name    string
	policy  *host.Policy
	doc     *policy.Document
	ready   bool
	results simulate.Results
}

// Simulation is one that can be played.
type Simulation struct {
	*Flags
	variants []variant
	plans    []simulate.Plan
}

// Prepare says what is wrong with the flags, and reads the files that they name.
// The error is an *exit.Error.
func (v *Flags) Prepare() (*Simulation, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	variants, err := v.variants()
	if err != nil {
		return nil, err
	}
	plans, err := v.plans(variants[0].policy)
	return &Simulation{v, variants, plans}, err
}

// Play plays it, draws what --plot asks for, and gives what is to be printed.
// The error is an *exit.Error.
func (s *Simulation) Play(ctx context.Context, plug *host.Plugin) (page func(io.Writer) error, err error) {
	switch {
	case s.Callers != nil:
		return s.fleets(ctx, plug)
	case s.Runs > 1:
		return s.manyCalls(ctx, plug)
	}
	return s.calls(ctx, plug)
}

func (v *Flags) check() error {
	switch {
	case v.Outage != nil && *v.Outage == "":
		return exit.Usage("--outage: is empty; expected how long the server is away, such as 61s")
	case v.Outage != nil && len(v.Outages) > 0:
		return exit.Usage("--outage and --outages: give one or the other")
	case v.Begin != nil && (*v.Begin < 0 || *v.Begin > simulate.MaxOutage):
		return exit.Usage("--begin: expected from 0s to %v, not %v", simulate.MaxOutage, *v.Begin)
	case v.Loading < 0 || v.Loading > simulate.MaxOutage:
		return exit.Usage("--loading: expected a duration up to %v, such as 20s, not %v", simulate.MaxOutage, v.Loading)
	case v.AttemptDuration < 0 || v.AttemptDuration > time.Hour:
		return exit.Usage("--attempt-duration: expected a duration up to 1h, such as 3s, not %v", v.AttemptDuration)
	case v.Runs < 1 || v.Runs > simulate.MaxRuns:
		return exit.Usage("--runs: expected from 1 to %d, not %d", simulate.MaxRuns, v.Runs)
	case v.Seed < 0:
		return exit.Usage("--seed: expected a number that is not negative, not %d", v.Seed)
	case v.Callers != nil && (v.Runs > 1 || v.Begin != nil):
		return exit.Usage("--runs and --begin are of one call; a fleet's calls begin as --arrive says")
	}
	for _, path := range v.Plot {
		if _, err := plot.Format(path); err != nil {
			return exit.Usage("--plot: %v", err)
		}
	}
	return v.fleetFlags.check()
}

// variants are the policies side by side.
func (v *Flags) variants() ([]variant, error) {
	given := v.Policy
	if len(given) == 0 {
		given = []string{"omnigraph"}
	}
	var list []variant
	for _, text := range given {
		one, err := v.variant(text)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (v *Flags) variant(text string) (variant, error) {
	name, wait, spread, ready := text, v.MaxWait, v.Spread, v.Ready
	for {
		at := strings.LastIndexByte(name, ',')
		setting, value, given := strings.Cut(name[at+1:], "=")
		if at < 0 || !given {
			break // a file's name may have commas
		}
		switch setting {
		case "max-wait", "spread":
			d, err := time.ParseDuration(value)
			if err != nil {
				return variant{}, exit.Usage("--policy %s: %s: expected a duration such as 75s, not %q", text, setting, value)
			}
			if setting == "spread" {
				spread = &d
			} else {
				wait = &d
			}
		case "ready":
			if value != "on" && value != "off" {
				return variant{}, exit.Usage("--policy %s: ready: expected on or off, not %q", text, value)
			}
			ready = value
		default:
			return variant{}, exit.Usage("--policy %s: there is no setting %q; there are max-wait, spread and ready", text, setting)
		}
		name = name[:at]
	}
	p, err := library.Load(name)
	if err != nil {
		return variant{}, err
	}
	if p, err = library.Adjusted(p, wait, spread); err != nil {
		return variant{}, err
	}
	doc, err := library.Document(p)
	if err != nil {
		return variant{}, exit.Unusable(err)
	}
	down, err := v.OrRefused(p)
	if err != nil {
		return variant{}, err
	}
	results := simulate.Results{Down: down, Busy: sample.Of(p, commands.Full), Broken: sample.Of(p, commands.Broken)}
	for _, f := range []struct {
		path string
		to   *abi.Text
	}{{v.BusyFile, &results.Busy.Stderr}, {v.BrokenFile, &results.Broken.Stderr}} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return variant{}, exit.Usage("%v", err)
		}
		*f.to = abi.Clip(string(text))
	}
	return variant{variantName(p, doc, ready, spread), p, doc, ready == "on", results}, nil
}

// variantName tells variants apart.
func variantName(p *host.Policy, doc *policy.Document, ready string, spread *time.Duration) string {
	name := p.Name()
	for _, b := range doc.Budgets {
		if b.MaxWait > 0 {
			name += ", max_wait " + words.Seconds(time.Duration(b.MaxWait)*time.Microsecond)
			break
		}
	}
	name += words.Choose(ready == "on", ", watching", "")
	if spread != nil {
		name += fmt.Sprintf(", spread %v", *spread)
	}
	return name
}

// plans are the outages that may happen: one of them does.
func (v *Flags) plans(first *host.Policy) ([]simulate.Plan, error) {
	if v.Outage != nil {
		return v.plan(*v.Outage)
	}
	list := sample.Measured(first)
	if len(v.Outages) > 0 {
		var err error
		if list, err = sample.Outages(v.Outages); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, exit.Usage("policy %s has no measured outages: say with --outage how long the server is away", first.Name())
	}
	if v.Runs == 1 {
		list = []outages.Outage{slices.MaxFunc(list, func(a, b outages.Outage) int { return cmp.Compare(a.Longest(), b.Longest()) })}
	}
	var plans []simulate.Plan
	for _, o := range list {
		plans = append(plans, simulate.Plan{{Low: o.Longest(), Max: o.Longest()}})
	}
	return plans, nil
}

// plan is what --outage says.
func (v *Flags) plan(text string) ([]simulate.Plan, error) {
	plan, err := simulate.ParsePlan(text)
	if err != nil {
		return nil, exit.Usage("--outage: %v", err)
	}
	for i := 1; i < len(plan); i++ {
		if ends := plan[i-1].At + plan[i-1].Max + v.Loading; plan[i].At <= ends {
			return nil, exit.Usage("--loading: outage %d begins at %v, before the server has loaded after the one before, which may be at %v", i+1, plan[i].At, ends)
		}
	}
	return []simulate.Plan{plan}, nil
}

// away is the outages of run n: one of the plans, and its lengths by chance.
func (s *Simulation) away(n int) []simulate.Span {
	plan := s.plans[0]
	if len(s.plans) > 1 {
		plan = s.plans[rand.New(rand.NewPCG(uint64(s.Seed), uint64(n))).IntN(len(s.plans))]
	}
	spans := plan.Draw(uint64(s.Seed), uint64(n))
	for i := range spans {
		spans[i].To += s.Loading
	}
	return spans
}

// begin is when a call begins.
func (v *Flags) begin(away []simulate.Span) time.Duration {
	if v.Begin != nil {
		return *v.Begin
	}
	return away[0].From
}

func (v *Flags) scene(one *variant) simulate.Scene {
	s := simulate.Scene{Takes: v.AttemptDuration, Loading: v.Loading, Results: one.results}
	if one.ready {
		s.Watch = &simulate.AsHost
	}
	return s
}

// hostCall is run n's call; wireCall is the same for the policy package.
func (v *Flags) hostCall(n int) host.Call {
	seed := (v.Seed + int64(n)) & (1<<53 - 1)
	return host.Call{Label: "simulate", Remote: true, Read: v.Read, Seed: &seed}
}

// draw writes a figure to each file of --plot.
func (v *Flags) draw(figure func(w io.Writer, format string) error) error {
	for _, path := range v.Plot {
		format, err := plot.Format(path)
		if err != nil {
			return err
		}
		file, err := os.Create(path)
		if err != nil {
			return exit.Unusable(fmt.Errorf("--plot: %w", err))
		}
		if err := errors.Join(figure(file, format), file.Close()); err != nil {
			return exit.Unusable(fmt.Errorf("--plot: %s: %w", path, err))
		}
	}
	return nil
}
