package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// tally is what a client was told of its calls, and what the ledgers say of them.
type tally struct {
	reads, readsAnswered   int
	writes, writesAnswered int
	posts, postsAnswered   int // among the writes
	doubtful               pair
	raised                 pair            // writes
	twice                  int             // writes that are in a ledger twice
	lost                   int             // writes that were answered, and are in no ledger
	untold                 int             // calls of which the driver told nothing
	lags                   []time.Duration // of calls that an outage met, from the service's return to the answer
}

// pair is how many there were, and how many of these were applied.
type pair struct{ all, applied int }

func (p *pair) add(applied int) {
	p.all++
	if applied > 0 {
		p.applied++
	}
}

// tallyOf is the tally of a client in one service or several.
func tallyOf(number int, all ...*measured) *tally {
	t := &tally{}
	for _, m := range all {
		for i := range m.calls[number] {
			c := &m.calls[number][i]
			told, ok := m.told[c.ID]
			if !ok {
				t.untold++
				continue
			}
			t.count(c, told.Outcome, m.applied[c.ID])
			if told.Outcome == answered {
				t.lag(told, m.restarts)
			}
		}
	}
	slices.Sort(t.lags)
	return t
}

func (t *tally) count(c *call, outcome string, applied int) {
	if c.Method == "GET" {
		t.reads++
		if outcome == answered {
			t.readsAnswered++
		}
		return
	}
	t.writes++
	post := c.Method == "POST"
	if post {
		t.posts++
	}
	if applied > 1 {
		t.twice++
	}
	switch outcome {
	case answered:
		t.writesAnswered++
		if post {
			t.postsAnswered++
		}
		if applied == 0 {
			t.lost++
		}
	case indeterminate:
		t.doubtful.add(applied)
	default:
		t.raised.add(applied)
	}
}

// lag notes how long after the service's return a call was answered that had begun before it.
func (t *tally) lag(told told, restarts []restarted) {
	for _, r := range restarts {
		if told.From < r.back && told.To >= r.back {
			t.lags = append(t.lags, time.Duration(told.To-r.back)*time.Millisecond)
		}
	}
}

// faults are what a run of outlast's transports must not show.
func faults(all []*measured) (wrong []string) {
	for _, m := range all {
		for number, c := range clients {
			t := tallyOf(number, m)
			say := func(n int, what string) {
				if n != 0 {
					wrong = append(wrong, fmt.Sprintf("%s, %s's %s: %d %s", m.service, c.language, c.name, n, what))
				}
			}
			say(t.untold, "calls of which nothing was told")
			say(t.lost, "writes were answered and are not in the ledger")
			if c.outlast {
				say(t.reads-t.readsAnswered, "reads were not answered")
				say(t.raised.all, "writes ended neither answered nor in doubt")
				say(t.twice, "writes were applied twice")
			}
		}
	}
	return wrong
}

func tableOf(all []*measured) string {
	var text strings.Builder
	text.WriteString("| client | reads answered | writes answered | named as in doubt | lost to an error | applied twice | lag p50 | p99 | max |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for number, c := range clients {
		t := tallyOf(number, all...)
		fmt.Fprintf(&text, "| %s | %d of %d | %d of %d | %s | %s | %d | %s |\n", c.title(),
			t.readsAnswered, t.reads, t.writesAnswered, t.writes, t.doubtful.text(),
			lostText(t), t.twice, lagText(t.lags))
	}
	text.WriteString("\n| lag p50, max |")
	for _, m := range all {
		fmt.Fprintf(&text, " %s |", m.service)
	}
	text.WriteString("\n|---|" + strings.Repeat("---:|", len(all)) + "\n")
	for number, c := range clients {
		if c.bare {
			continue
		}
		fmt.Fprintf(&text, "| %s |", c.title())
		for _, m := range all {
			lags := tallyOf(number, m).lags
			fmt.Fprintf(&text, " %s, %s |", quantile(lags, 0.5), quantile(lags, 1))
		}
		text.WriteString("\n")
	}
	return text.String()
}

func (c *client) title() string {
	switch {
	case c.outlast:
		return fmt.Sprintf("**outlast** in %s (%s)", c.name, c.language)
	case c.bare:
		return fmt.Sprintf("%s, nothing else (%s)", strings.TrimSuffix(c.name, " alone"), c.language)
	}
	return fmt.Sprintf("%s (%s)", c.name, c.language)
}

func (p pair) text() string {
	if p.all == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%d applied)", p.all, p.applied)
}

// lostText has reads, and writes with how many of them were applied.
func lostText(t *tally) string {
	reads := t.reads - t.readsAnswered
	if reads == 0 && t.raised.all == 0 {
		return "0"
	}
	return fmt.Sprintf("%d reads, %d writes (%d applied)", reads, t.raised.all, t.raised.applied)
}

func lagText(lags []time.Duration) string {
	return strings.Join([]string{quantile(lags, 0.5), quantile(lags, 0.99), quantile(lags, 1)}, " | ")
}

// quantile of sorted lags, as a text.
func quantile(lags []time.Duration, q float64) string {
	if len(lags) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f s", lags[min(int(q*float64(len(lags))), len(lags)-1)].Seconds())
}
