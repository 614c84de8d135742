package simulation

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
	"outlast/cmd/outlast/internal/words"
	"outlast/host"
	"outlast/simulate"
	"outlast/simulate/plot"
)

// wireCall is run n's call as the policy package has it.
func (v *Flags) wireCall(n int) *abi.Call {
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
func (s *Simulation) calls(ctx context.Context, plug *host.Plugin) (func(io.Writer) error, error) {
	away := s.away(0)
	var list []played
	for i := range s.variants {
		one := &s.variants[i]
		scene := s.scene(one)
		scene.Away = away
		story, err := simulate.Play(ctx, plug.Session(one.policy, s.hostCall(0)), &scene, s.begin(away), nil)
		if err != nil {
			return nil, exit.Unusable(err)
		}
		list = append(list, played{one, story, scene})
	}
	return s.showCalls(list, nil, "")
}

// showCalls draws calls, and gives their page; summaries are those of their runs, and the
// headline says which these are.
func (v *Flags) showCalls(list []played, summaries []*simulate.Summary, headline string) (func(io.Writer) error, error) {
	page := func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(v.callsReport(list, summaries))
		}
		fmt.Fprint(w, headline)
		for i := range list {
			p := &list[i]
			fmt.Fprintf(w, "%s, a %s: %s\n", p.name, words.Choose(v.Read, "read", "write"), p.verdict())
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
	}
	return page, v.draw(func(w io.Writer, format string) error { return drawCalls(w, format, list) })
}

// verdict is a call in a few words.
func (p *played) verdict() string {
	end := words.Seconds(p.story.End - p.story.Begin)
	switch {
	case p.meetsNone():
		return "succeeds at once: it meets no outage"
	case p.story.OK():
		return fmt.Sprintf("succeeds after %s, %s after the server is back", end, words.Seconds(p.story.Lag(p.scene.Away)))
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
				what += ", in " + words.Seconds(m.Ended-m.At)
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
	title := "A call through an outage of " + words.Seconds(away[0].To-away[0].From)
	if shown := plot.Shown(away, lanes); list[0].meetsNone() {
		title = "A call that meets no outage"
	} else if len(shown) > 1 {
		title = fmt.Sprintf("A call through %d outages", len(shown))
	}
	return plot.Calls(w, format, title, away, lanes)
}

// manyCalls plays many calls with each variant, and shows the worst of the first.
func (s *Simulation) manyCalls(ctx context.Context, plug *host.Plugin) (func(io.Writer) error, error) {
	var list []played
	var summaries []*simulate.Summary
	worst := -1
	for i := range s.variants {
		one := &s.variants[i]
		r := &simulate.Runs{
			Scene: s.scene(one), N: s.Runs,
			Begin: func(n int) time.Duration { return s.begin(s.away(n)) },
			Away:  s.away,
			New:   func(n int) simulate.Decider { return simulate.NewNative(one.doc, s.wireCall(n)) },
			Check: func(n int) simulate.Decider { return plug.Session(one.policy, s.hostCall(n)) },
		}
		summary, err := r.Run(ctx)
		if err != nil {
			return nil, exit.Unusable(err)
		}
		if worst < 0 {
			worst = summary.Worst
		}
		story, scene, err := r.Play(ctx, worst, r.Check(worst))
		if err != nil {
			return nil, exit.Unusable(err)
		}
		list, summaries = append(list, played{one, story, *scene}), append(summaries, summary)
	}
	headline := fmt.Sprintf("run %d, the worst of %d with the first policy, is shown; %d of each policy's were played by the plugin too\n\n", worst, s.Runs, summaries[0].Checked)
	return s.showCalls(list, summaries, headline)
}

func printSummary(w io.Writer, s *simulate.Summary) {
	fmt.Fprintf(w, "  of %d runs %d succeed (%s); %.1f attempts each\n", s.Runs, s.OK, percent(s.OK, s.Runs), float64(s.Attempts)/float64(s.Runs))
	if s.OK > 0 {
		fmt.Fprintf(w, "  after the server's return: mean %s, half within %s, 99 %% within %s, all within %s\n",
			words.Seconds(s.Mean()), words.Seconds(s.Quantile(0.5)), words.Seconds(s.Quantile(0.99)), words.Seconds(s.Quantile(1)))
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
