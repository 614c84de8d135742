package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"text/tabwriter"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/words"
	"outlast/host"
	"outlast/simulate"
	"outlast/simulate/plot"
)

// fleetRun is a variant's fleet.
type fleetRun struct {
	*variant
	report *simulate.Report
	safe   int // how many callers do not knock the server over; 0: nothing does
	took   time.Duration
}

// fleets plays a fleet with each variant.
func (s *Simulation) fleets(ctx context.Context, plug *host.Plugin) (func(io.Writer) error, error) {
	arrivals, err := s.arrivals()
	if err != nil {
		return nil, exit.Usage("--arrive: %v", err)
	}
	// A million callers' states live long: garbage as large as they are would
	// double the memory (30 is a choice: a third instead, for little time).
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	away := s.away(0)
	server := s.server(away[0].To - away[0].From - s.Loading)
	var list []fleetRun
	for i := range s.variants {
		one := &s.variants[i]
		f := &simulate.Fleet{
			Policy: one.doc, Call: *s.wireCall(0), Scene: s.scene(one), Server: server,
			Callers: *s.Callers, Arrivals: arrivals, Seed: uint64(s.Seed), Courses: words.Or(s.Courses, simulate.DefaultCourses),
			PerMachine: words.Or(s.PerMachine, 1),
			Check: func(c abi.Call) simulate.Decider {
				call := s.hostCall(0)
				call.Seed = c.Seed
				return plug.Session(one.policy, call)
			},
		}
		f.Scene.Away = away
		began := time.Now()
		report, err := f.Run(ctx)
		if err != nil {
			return nil, exit.Unusable(err)
		}
		run := fleetRun{one, report, 0, time.Since(began)}
		if server.RelapseAt > 0 {
			if run.safe, err = f.Safe(ctx, report); err != nil {
				return nil, exit.Unusable(err)
			}
		}
		list = append(list, run)
	}
	return s.showFleets(list, away)
}

func (v *Flags) showFleets(list []fleetRun, away []simulate.Span) (func(io.Writer) error, error) {
	title := fmt.Sprintf("%d callers (%s)", *v.Callers, v.arrive())
	if n := words.Or(v.PerMachine, 1); n > 1 {
		title += fmt.Sprintf(", %d on a machine", n)
	}
	title += ", an outage of " + words.Seconds(away[0].To-away[0].From-v.Loading)
	if v.Loading > 0 {
		title += ", loading for " + words.Seconds(v.Loading)
	}
	if v.Capacity != nil {
		title += fmt.Sprintf(", then %d calls a second", *v.Capacity)
	}
	draw := func(w io.Writer, format string) error {
		var panels []plot.Panel
		for i := range list {
			panels = append(panels, plot.Panel{Title: list[i].name, Verdict: list[i].verdict(), Report: list[i].report})
		}
		return plot.Fleets(w, format, title, panels)
	}
	page := func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(v.fleetsReport(list, away))
		}
		fmt.Fprintf(w, "%s; %s\n\n", title, words.Choose(v.Read, "reads", "writes"))
		printFleets(w, list, !v.Read)
		if v.Chart {
			chartFleets(w, list)
		}
		return nil
	}
	return page, v.draw(draw)
}

// verdict is a fleet in a few words.
func (f *fleetRun) verdict() string {
	peak, _ := f.report.Peak()
	text := fmt.Sprintf("%s served, at most %s of all in 100 ms", percent(f.report.Served, f.report.Callers), percent(peak, f.report.Callers))
	if n := f.report.Relapses; n > 0 {
		text += ", " + words.Count(n, "relapse")
	}
	return text
}

// printFleets prints a column for each fleet.
func printFleets(w io.Writer, list []fleetRun, writes bool) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value func(*fleetRun) string) {
		fmt.Fprint(out, name)
		for i := range list {
			fmt.Fprint(out, "\t", value(&list[i]))
		}
		fmt.Fprintln(out, "\t")
	}
	after := func(share float64) func(*fleetRun) string {
		return func(f *fleetRun) string {
			if d, ever := f.report.Recovered(share); ever {
				return words.Seconds(d)
			}
			return "never"
		}
	}
	row("", func(f *fleetRun) string { return f.name })
	row("served", func(f *fleetRun) string { return percent(f.report.Served, f.report.Callers) })
	row("gave up", func(f *fleetRun) string {
		return percent(f.report.Callers-f.report.Served, f.report.Callers)
	})
	for _, why := range reasons(list) {
		row("  "+why, func(f *fleetRun) string { return percent(f.report.GaveUp[why], f.report.Callers) })
	}
	row("half served, after the return", after(0.5))
	row("99 % served", after(0.99))
	row("all served", after(1))
	row("most attempts in 100 ms then", func(f *fleetRun) string {
		peak, at := f.report.Peak()
		return fmt.Sprintf("%d, %s of the callers, at %s", peak, percent(peak, f.report.Callers), words.Seconds(at))
	})
	row("attempts", func(f *fleetRun) string { return fmt.Sprint(f.report.Attempts) })
	row("failed", func(f *fleetRun) string {
		return fmt.Sprintf("%s of the attempts; %.1f a call", percent(f.report.Wasted, max(1, f.report.Attempts)), float64(f.report.Wasted)/float64(f.report.Callers))
	})
	row("left out, seen to be away", func(f *fleetRun) string { return fmt.Sprint(f.report.LeftOut) })
	row("relapses", func(f *fleetRun) string { return fmt.Sprint(f.report.Relapses) })
	if writes {
		row("in doubt, and told so", func(f *fleetRun) string { return fmt.Sprintf("%d of %d that broke", f.report.InDoubt, f.report.Broken) })
		row("perhaps applied twice", func(f *fleetRun) string { return fmt.Sprint(f.report.Twice) })
	}
	if list[0].safe > 0 {
		row("safe for", func(f *fleetRun) string {
			return fmt.Sprintf("%d callers", f.safe) + words.Choose(f.safe == simulate.MaxCallers, " at least", "")
		})
	}
	row("checked", func(f *fleetRun) string {
		return fmt.Sprintf("%d decisions of %d callers, by the plugin: all alike", f.report.Checked, f.report.Sampled)
	})
	row("simulated in", func(f *fleetRun) string { return words.Seconds(f.took) })
	out.Flush()
	fmt.Fprintln(w)
}

// reasons are why calls of any fleet were given up, sorted.
func reasons(list []fleetRun) []string {
	all := map[string]bool{}
	for i := range list {
		for why := range list[i].report.GaveUp {
			all[why] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
