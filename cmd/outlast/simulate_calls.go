package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/host"
	"outlast/simulate"
	"outlast/simulate/plot"
)

// wireCall is run n's call as the policy package has it.
func (v *simulateVerb) wireCall(n int) *abi.Call {
	c := v.hostCall(n)
	return &abi.Call{Label: c.Label, Remote: true, Write: !v.Read, ConnectRetry: true, Seed: c.Seed}
}

// played is a variant's call.
type played struct {
	*variant
	story *simulate.Story
	scene simulate.Scene
}

// calls plays one call, with each variant.
func (v *simulateVerb) calls(ctx context.Context, plug *host.Plugin, variants []variant, plans []simulate.Plan) error {
	away := v.away(plans, 0)
	var list []played
	for i := range variants {
		one := &variants[i]
		scene := v.scene(one)
		scene.Away = away
		story, err := simulate.Play(ctx, plug.Session(one.policy, v.hostCall(0)), &scene, v.begin(away), nil)
		if err != nil {
			return exit.Unusable(err)
		}
		list = append(list, played{one, story, scene})
	}
	return v.showCalls(list, nil, "")
}

// showCalls draws and prints calls; summaries are those of their runs, and the
// headline says which these are.
func (v *simulateVerb) showCalls(list []played, summaries []*simulate.Summary, headline string) error {
	if err := v.draw(func(w io.Writer, format string) error { return drawCalls(w, format, list) }); err != nil {
		return err
	}
	return toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(v.callsReport(list, summaries))
		}
		fmt.Fprint(w, headline)
		for i := range list {
			p := &list[i]
			fmt.Fprintf(w, "%s, a %s: %s\n", p.name, choose(v.Read, "read", "write"), p.verdict())
			if summaries != nil {
				printSummary(w, summaries[i])
			}
			p.table(w)
			fmt.Fprintln(w)
		}
		if v.Chart {
			chartCalls(w, list)
		}
		return nil
	})
}

// verdict is a call in a few words.
func (p *played) verdict() string {
	end := seconds(p.story.End - p.story.Begin)
	switch {
	case p.meetsNone():
		return "succeeds at once: it meets no outage"
	case p.story.OK():
		return fmt.Sprintf("succeeds after %s, %s after the server is back", end, seconds(p.story.Lag(p.scene.Away)))
	case p.story.Outcome.Type == abi.OutcomeExhausted:
		return "gives up after " + end
	}
	return fmt.Sprintf("stops after %s: %s", end, safetext.Line(p.story.Outcome.Message))
}

// meetsNone says whether the first attempt succeeds.
func (p *played) meetsNone() bool { return p.story.OK() && len(p.story.Moments) == 1 }

func (p *played) table(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "attempt\tat\tafter waiting\t  met\t")
	for _, m := range p.story.Moments {
		what := string(m.Met)
		switch m.Met {
		case simulate.MetDown:
			what = m.Kind
			if m.Ended > m.At {
				what += ", in " + seconds(m.Ended-m.At)
			}
		case simulate.MetUp:
			what = "success"
		case simulate.MetWoken:
			what = "(woken: the server is seen to be back)"
		case simulate.MetLeftOut:
			what = "(left out: the server is seen to be away)"
		case simulate.MetLoading:
			what = "(left out: the server is seen to be loading)"
		}
		fmt.Fprintf(out, "%d\t%s\t%s\t  %s\t\n", m.Attempt, milli(m.At), milli(m.Waited), what)
	}
	out.Flush()
}

// milli is a time to the millisecond, so that a column lines up.
func milli(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

func drawCalls(w io.Writer, format string, list []played) error {
	away := list[0].scene.Away
	var lanes []plot.Lane
	for i := range list {
		lanes = append(lanes, plot.Lane{Title: list[i].name, Verdict: list[i].verdict(), Story: list[i].story})
	}
	title := "A call through an outage of " + seconds(away[0].To-away[0].From)
	if shown := plot.Shown(away, lanes); list[0].meetsNone() {
		title = "A call that meets no outage"
	} else if len(shown) > 1 {
		title = fmt.Sprintf("A call through %d outages", len(shown))
	}
	return plot.Calls(w, format, title, away, lanes)
}

// runs plays many calls with each variant, and shows the worst of the first.
func (v *simulateVerb) runs(ctx context.Context, plug *host.Plugin, variants []variant, plans []simulate.Plan) error {
	var list []played
	var summaries []*simulate.Summary
	worst := -1
	for i := range variants {
		one := &variants[i]
		r := &simulate.Runs{
			Scene: v.scene(one), N: v.Runs,
			Begin: func(n int) time.Duration { return v.begin(v.away(plans, n)) },
			Away:  func(n int) []simulate.Span { return v.away(plans, n) },
			New:   func(n int) simulate.Decider { return simulate.NewNative(one.doc, v.wireCall(n)) },
			Check: func(n int) simulate.Decider { return plug.Session(one.policy, v.hostCall(n)) },
		}
		summary, err := r.Run(ctx)
		if err != nil {
			return exit.Unusable(err)
		}
		if worst < 0 {
			worst = summary.Worst
		}
		story, scene, err := r.Play(ctx, worst, r.Check(worst))
		if err != nil {
			return exit.Unusable(err)
		}
		list, summaries = append(list, played{one, story, *scene}), append(summaries, summary)
	}
	headline := fmt.Sprintf("run %d, the worst of %d with the first policy, is shown; %d of each policy's were played by the plugin too\n\n", worst, v.Runs, summaries[0].Checked)
	return v.showCalls(list, summaries, headline)
}

func printSummary(w io.Writer, s *simulate.Summary) {
	fmt.Fprintf(w, "  of %d runs %d succeed (%s); %.1f attempts each\n", s.Runs, s.OK, percent(s.OK, s.Runs), float64(s.Attempts)/float64(s.Runs))
	if s.OK > 0 {
		fmt.Fprintf(w, "  after the server's return: mean %s, half within %s, 99 %% within %s, all within %s\n",
			seconds(s.Mean()), seconds(s.Quantile(0.5)), seconds(s.Quantile(0.99)), seconds(s.Quantile(1)))
	}
}

func percent(n, of int) string {
	share := 100 * float64(n) / float64(of)
	switch {
	case n > 0 && share < 0.01:
		return "under 0.01 %"
	case n < of && share > 99.95:
		return "over 99.95 %"
	}
	return fmt.Sprintf("%.3g %%", share)
}
