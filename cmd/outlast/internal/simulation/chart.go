package simulation

import (
	"fmt"
	"io"
	"strings"
	"time"

	"outlast/cmd/outlast/internal/words"
	"outlast/simulate"
)

// columns is a chart's width in a terminal (a choice: it fits into 80).
const columns = 76

// scale maps times to columns.
type scale struct{ from, to time.Duration }

func (s scale) column(t time.Duration) int {
	return min(int(int64(t-s.from)*(columns-1)/int64(max(1, s.to-s.from))), columns-1)
}

// band is a line with the outages in it.
func (s scale) band(away []simulate.Span) string {
	line := []rune(strings.Repeat(" ", columns))
	for _, o := range away {
		if o.From > s.to {
			continue
		}
		for i := max(0, s.column(o.From)); i <= s.column(min(o.To, s.to)); i++ {
			line[i] = '░'
		}
	}
	return strings.TrimRight(string(line), " ")
}

// axis is the line with the ends of the scale.
func (s scale) axis() string {
	from, to := words.Seconds(s.from), words.Seconds(s.to)
	return from + strings.Repeat(" ", max(1, columns-len(from)-len(to))) + to
}

// chartCalls draws each call in a line: × is an attempt that failed, ✓ success,
// · a wait that was left without an attempt, ┆ the deadline.
func chartCalls(w io.Writer, list []played) {
	s := scale{from: list[0].scene.Away[0].From}
	for i := range list {
		s.from = min(s.from, list[i].story.Begin)
		s.to = max(s.to, list[i].story.End, list[i].story.Deadline, list[i].scene.Away[0].To)
	}
	fmt.Fprintln(w, s.axis())
	fmt.Fprintf(w, "%s  ░ away  × failed  ✓ success  ┆ deadline\n", s.band(list[0].scene.Away))
	for i := range list {
		line := []rune(strings.Repeat(" ", columns))
		put := func(t time.Duration, r rune) {
			if c := s.column(t); c >= 0 {
				line[c] = r
			}
		}
		if d := list[i].story.Deadline; d > 0 {
			put(d, '┆')
		}
		for _, m := range list[i].story.Moments {
			switch m.Met {
			case simulate.MetDown:
				put(m.At, '×')
			case simulate.MetUp:
				put(m.At, '✓')
			case simulate.MetLeftOut, simulate.MetLoading:
				put(m.At, '·')
			}
		}
		fmt.Fprintf(w, "%s  %s\n", string(line), list[i].name)
	}
}

// bars are eighths of a line's height.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// chartFleets draws the arrivals of each fleet; a bar is the busiest 100 ms of
// its column. The first second is left out of the scale: all may begin in it.
func chartFleets(w io.Writer, list []fleetRun) {
	away := list[0].report.Away
	s, high := scale{from: away[0].From}, 1
	for i := range list {
		bins := list[i].report.Bins
		s.to = max(s.to, tick(len(bins)), away[0].To)
		for n := int((away[0].From + time.Second) / simulate.Tick); n < len(bins); n++ {
			high = max(high, bins[n].Arrivals)
		}
	}
	fmt.Fprintf(w, "attempts in 100 ms, up to %d\n%s\n", high, s.axis())
	for i := range list {
		r := list[i].report
		most := make([]int, columns)
		for n, b := range r.Bins {
			if c := s.column(tick(n)); c >= 0 {
				most[c] = max(most[c], b.Arrivals)
			}
		}
		const lines = 4
		for line := lines; line > 0; line-- {
			var text strings.Builder
			for _, n := range most {
				eighths := (n*lines*8 + high - 1) / high
				text.WriteRune(bars[max(0, min(8, eighths-(line-1)*8))])
			}
			fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
		}
		fmt.Fprintf(w, "%s  ░ away\n%s\n", s.band(r.Away), list[i].name)
	}
}
