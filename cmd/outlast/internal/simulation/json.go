package simulation

import (
	"time"

	"outlast/cmd/outlast/internal/words"
	"outlast/simulate"
)

// What simulate --json prints. Times are microseconds.
type (
	jsonSpan struct {
		FromUS int64 `json:"from_us"`
		ToUS   int64 `json:"to_us"`
	}
	jsonCalls struct {
		Outages []jsonSpan `json:"outages"`
		BeginUS int64      `json:"begin_us"`
		Read    bool       `json:"read"`
		Seed    int64      `json:"seed"`
		Calls   []jsonCall `json:"calls"`
	}
	jsonVariant struct {
		Policy  string `json:"policy"`
		Label   string `json:"label"`
		Digest  string `json:"digest"`
		Watched bool   `json:"watched"`
	}
	jsonCall struct {
		jsonVariant
		Outcome    string       `json:"outcome"`
		Message    string       `json:"message"`
		EndUS      int64        `json:"end_us"`
		DeadlineUS int64        `json:"deadline_us,omitempty"`
		Moments    []jsonMoment `json:"moments"`
		Runs       *jsonRuns    `json:"runs,omitempty"`
	}
	jsonMoment struct {
		Attempt  int64  `json:"attempt"`
		AtUS     int64  `json:"at_us"`
		EndedUS  int64  `json:"ended_us"`
		WaitedUS int64  `json:"waited_us"`
		Met      string `json:"met"` // down, up, woken, left out, loading
		Kind     string `json:"kind,omitempty"`
	}
	jsonRuns struct {
		Runs      int     `json:"runs"`
		Succeeded int     `json:"succeeded"`
		Attempts  int     `json:"attempts"`
		LagMeanUS int64   `json:"lag_mean_us"`
		LagUS     []int64 `json:"lag_quantiles_us"` // 0, 0.5, 0.9, 0.99, 1
		Checked   int     `json:"played_by_the_plugin_too"`
	}
	jsonFleets struct {
		Outages []jsonSpan  `json:"outages"`
		Callers int         `json:"callers"`
		Arrive  string      `json:"arrive"`
		Machine int         `json:"per_machine"`
		Read    bool        `json:"read"`
		Seed    int64       `json:"seed"`
		Fleets  []jsonFleet `json:"fleets"`
	}
	jsonFleet struct {
		jsonVariant
		Served     int            `json:"served"`
		GaveUp     map[string]int `json:"gave_up"`
		Attempts   int            `json:"attempts"`
		Wasted     int            `json:"wasted"`
		LeftOut    int            `json:"left_out"`
		Peak       jsonPeak       `json:"peak_after_return"`
		HalfUS     *int64         `json:"half_served_us"` // after the first return; null: never
		Most99US   *int64         `json:"99_percent_served_us"`
		AllUS      *int64         `json:"all_served_us"`
		Away       []jsonSpan     `json:"away"` // with the relapses
		Relapses   int            `json:"relapses"`
		Broken     int            `json:"broken"`             // calls that broke with the server
		InDoubt    int            `json:"in_doubt"`           // calls that ended with the word that they may have been applied
		Twice      int            `json:"perhaps_twice"`      // writes that were carried out after they had broken
		Safe       int            `json:"safe_for,omitempty"` // callers, to a twentieth: so many do not knock the server over
		Decisions  int            `json:"decisions"`
		CheckedBy  int            `json:"decisions_made_by_the_plugin_too"`
		SampledFor int            `json:"callers_they_are_of"`
		TickUS     int64          `json:"tick_us"`
		Bins       jsonBins       `json:"bins"`
	}
	// Each list has a number for each tick, from 0 on.
	jsonBins struct {
		Arrivals []int `json:"arrivals"` // attempts that started
		Wasted   []int `json:"wasted"`   // of them: those that did not succeed
		Served   []int `json:"served"`   // calls that were carried out
	}
	jsonPeak struct {
		Arrivals int     `json:"arrivals"`
		Share    float64 `json:"share"`
		AtUS     int64   `json:"at_us"`
	}
)

func spans(list []simulate.Span) (out []jsonSpan) {
	for _, s := range list {
		out = append(out, jsonSpan{s.From.Microseconds(), s.To.Microseconds()})
	}
	return out
}

func (one *variant) json() jsonVariant {
	return jsonVariant{one.policy.Name(), one.name, one.policy.Digest(), one.ready}
}

func (v *Flags) callsReport(list []played, summaries []*simulate.Summary) jsonCalls {
	first := &list[0]
	r := jsonCalls{Outages: spans(first.scene.Away), BeginUS: first.story.Begin.Microseconds(), Read: v.Read, Seed: v.Seed}
	for i := range list {
		p := &list[i]
		c := jsonCall{
			jsonVariant: p.json(), Outcome: string(p.story.Outcome.Type), Message: p.story.Outcome.Message,
			EndUS: p.story.End.Microseconds(), DeadlineUS: p.story.Deadline.Microseconds(),
		}
		for _, m := range p.story.Moments {
			c.Moments = append(c.Moments, jsonMoment{
				m.Attempt, m.At.Microseconds(), m.Ended.Microseconds(), m.Waited.Microseconds(), string(m.Met), m.Kind,
			})
		}
		if summaries != nil {
			s := summaries[i]
			c.Runs = &jsonRuns{Runs: s.Runs, Succeeded: s.OK, Attempts: s.Attempts, LagMeanUS: s.Mean().Microseconds(), Checked: s.Checked}
			for _, share := range []float64{0, 0.5, 0.9, 0.99, 1} {
				c.Runs.LagUS = append(c.Runs.LagUS, s.Quantile(share).Microseconds())
			}
		}
		r.Calls = append(r.Calls, c)
	}
	return r
}

func (v *Flags) fleetsReport(list []fleetRun, away []simulate.Span) jsonFleets {
	r := jsonFleets{Outages: spans(away), Callers: *v.Callers, Machine: words.Or(v.PerMachine, 1), Arrive: v.arrive(), Read: v.Read, Seed: v.Seed}
	for i := range list {
		r.Fleets = append(r.Fleets, list[i].json())
	}
	return r
}

func (f *fleetRun) json() jsonFleet {
	r := f.report
	peak, at := r.Peak()
	recovered := func(share float64) *int64 {
		if d, ever := r.Recovered(share); ever {
			us := d.Microseconds()
			return &us
		}
		return nil
	}
	var bins jsonBins
	for _, b := range r.Bins {
		bins.Arrivals = append(bins.Arrivals, b.Arrivals)
		bins.Wasted = append(bins.Wasted, b.Wasted)
		bins.Served = append(bins.Served, b.Served)
	}
	return jsonFleet{
		jsonVariant: f.variant.json(), Served: r.Served, GaveUp: r.GaveUp, Attempts: r.Attempts, Wasted: r.Wasted, LeftOut: r.LeftOut,
		Peak:   jsonPeak{peak, float64(peak) / float64(r.Callers), at.Microseconds()},
		HalfUS: recovered(0.5), Most99US: recovered(0.99), AllUS: recovered(1),
		Away: spans(r.Away), Relapses: r.Relapses, Broken: r.Broken, InDoubt: r.InDoubt, Twice: r.Twice, Safe: f.safe, Decisions: r.Decisions, CheckedBy: r.Checked, SampledFor: r.Sampled,
		TickUS: simulate.Tick.Microseconds(), Bins: bins,
	}
}

// tick is the beginning of bin i.
func tick(i int) time.Duration { return simulate.Tick * time.Duration(i) }
