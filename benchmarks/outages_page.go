package main

import (
	"fmt"
	"time"
)

// figures are what the samples of one tool come to.
type figures struct {
	n, survived, twice, missed int
	p50, p99, most             time.Duration
	spawns                     float64
	maxSpawns                  int
}

func (r *outageRun) figures(samples []sample, tool int) (f figures) {
	var lags []time.Duration
	var spawns []int
	for _, s := range samples {
		switch {
		case s.tool != tool:
			continue
		case s.missed:
			f.missed++
			continue
		}
		f.n++
		f.twice += max(0, s.applied-1)
		spawns = append(spawns, s.spawns)
		if s.survived {
			f.survived++
			lags = append(lags, s.lag)
		}
	}
	if len(lags) > 0 {
		f.p50, f.p99, f.most = quantile(lags, 0.5), quantile(lags, 0.99), quantile(lags, 1)
	}
	if len(spawns) > 0 {
		f.spawns, f.maxSpawns = mean(spawns), quantile(spawns, 1)
	}
	return f
}

var callNames = map[string]string{"query": "reads", "mutate": "writes"}

// tables has one for reads and one for writes. The first tool of each is what
// the others are compared with.
func (r *outageRun) tables(samples []sample) (list []table) {
	for _, call := range []string{"query", "mutate"} {
		t := table{
			title:  fmt.Sprintf("%s through %d outages of %v", callNames[call], r.count, r.length),
			header: []string{"tool", "lag p50", "p99", "max", "p50, in outlast's", "spawns, mean", "max", "survived"},
		}
		var first figures
		missed := 0
		for i, tool := range r.tools {
			if tool.call != call {
				continue
			}
			f := r.figures(samples, i)
			if len(t.rows) == 0 {
				first = f
			}
			t.rows = append(t.rows, []string{
				tool.name, short(f.p50), short(f.p99), short(f.most), times(float64(f.p50), float64(first.p50)),
				fmt.Sprintf("%.1f", f.spawns), fmt.Sprint(f.maxSpawns), fmt.Sprintf("%d of %d", f.survived, f.n),
			})
			t.remark(f.twice > 0, "%s applied a write twice, %d times.", tool.name, f.twice)
			missed += f.missed
		}
		t.remark(missed > 0, "%d calls began too late to meet the outage, and are left out.", missed)
		t.remark(call == "mutate", "How busy the machine was: the server, which is a small process too, was up %s after its time, and %s at the worst.", short(quantile(r.late, 0.5)), short(quantile(r.late, 1)))
		list = append(list, t)
	}
	return list
}

// goals compares what outlast does unasked with what it is to do.
func (r *outageRun) goals(samples []sample) (list []goal) {
	for i, tool := range r.tools {
		if tool.name != outlastTools[0].name {
			continue
		}
		f := r.figures(samples, i)
		what := fmt.Sprintf("%s, %v: ", callNames[tool.call], r.length)
		list = append(list,
			goal{what + "lag p50", "0.1 s", short(f.p50), f.p50 <= 100*time.Millisecond},
			goal{what + "lag p99", "0.35 s", short(f.p99), f.p99 <= 350*time.Millisecond},
			goal{what + "spawns, the most", "2", fmt.Sprint(f.maxSpawns), f.maxSpawns <= 2})
	}
	return list
}

func outagesText(count int) string {
	return fmt.Sprintf("A server process is killed, and started again so much later, %d times. One outage serves a call of each tool: they begin one soon after the other, early in the first outages and late in the last. "+
		"Each attempt is a process that opens a real connection; the command stands in for omnigraph, and prints what that prints. "+
		"*Lag* is how long after the server accepts the attempt starts that succeeds; a *spawn* is one attempt. Of %d lags the p99 is the worst one.\n\n"+
		"`--ready tcp://` never cuts a write's wait short, since a listener may accept before it serves: it only leaves out attempts that would fail.\n\n", count, min(count, 99))
}
