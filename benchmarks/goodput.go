package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"benchmarks/goodput"
)

const (
	// goodputCapacity is what the server serves in a second, and goodputOffered the
	// part of it that begins (choices: thousands wait, and all loops together leave a
	// processor free).
	goodputCapacity = 100
	goodputOffered  = 0.8
	// goodputLeast is the part of the capacity that is to be used in the first seconds.
	goodputLeast, goodputFirst = 0.95, 10
)

// goodputLoops are the loops, by their names there.
var goodputLoops = []struct{ name, loop string }{
	{"outlast, `plugin.Run` with `httpattempt.Do`", "run"},
	{"outlast, `httpretry`", "transport"},
	{"outlast, `plugin.Run`, `MaxWait` of 15 minutes", "patient"},
	{backoffName, "backoff"},
	{"witan-core 0.45.0's loop, as outlast's policy", "witan-core"},
}

// goodput has all loops ride out an outage at the same time, each with a server of
// its own.
func (b *bench) goodput() (section, error) {
	s := section{title: "Goodput after an outage", text: b.goodputText()}
	found := make([]*goodput.Figures, len(goodputLoops))
	faults := make([]error, len(goodputLoops))
	var all sync.WaitGroup
	for i, l := range goodputLoops {
		address, err := freeAddress()
		if err != nil {
			return s, err
		}
		t := &goodput.Trial{
			Loop: l.loop, Address: address, Capacity: goodputCapacity, Offered: goodputOffered,
			Before: 2 * time.Second, Away: b.away, After: b.goodputAfter(),
		}
		all.Go(func() { found[i], faults[i] = t.Run() })
	}
	all.Wait()
	if err := errors.Join(faults...); err != nil {
		return s, err
	}
	s.tables = []table{goodputTable(found), secondsTable(found)}
	for i, f := range found[:2] {
		unused := 1 - f.Goodput(goodputCapacity, goodputFirst)
		s.goals = append(s.goals, goal{fmt.Sprintf("%s: unused of a server's capacity in the first %d s after %v", goodputLoops[i].name, goodputFirst, b.away), "5 %", percent(max(0, unused)), unused <= 1-goodputLeast})
	}
	return s, nil
}

// goodputAfter is somewhat longer than the server needs for those that waited, beside
// those that come.
func (b *bench) goodputAfter() time.Duration {
	needs := float64(b.away) * goodputOffered / (1 - goodputOffered)
	return time.Duration(1.1*needs).Truncate(time.Second) + goodputFirst*time.Second
}

func goodputTable(found []*goodput.Figures) table {
	t := table{header: []string{"loop", "goodput, first 10 s", "calls waiting", "most requests in 100 ms, of these", "requests for a call that ended well", "answered 503", "none waits after", "given up"}}
	for i, f := range found {
		drained := "–"
		if f.Drained > 0 {
			drained = short(f.Drained)
		}
		t.rows = append(t.rows, []string{
			goodputLoops[i].name, percent(f.Goodput(goodputCapacity, goodputFirst)),
			fmt.Sprint(f.Waiting), percent(float64(f.Densest) / float64(max(1, f.Waiting))), digits(float64(f.Came) / float64(max(1, f.Answered))),
			fmt.Sprint(f.Refused), drained, fmt.Sprint(f.GivenUp),
		})
		t.remark(f.Left > 0, "%s: %d requests were served whose caller had gone.", goodputLoops[i].name, f.Left)
	}
	return t
}

// secondsTable has the first seconds: requests that came, calls that ended well, and
// the longest queue.
func secondsTable(found []*goodput.Figures) table {
	t := table{title: "the first seconds: requests that came, calls that ended well, the longest queue", header: []string{"loop"}}
	for second := range goodputFirst {
		t.header = append(t.header, fmt.Sprintf("%d s", second+1))
	}
	for i, f := range found {
		row := []string{goodputLoops[i].name}
		for _, s := range f.Seconds[:goodputFirst] {
			row = append(row, fmt.Sprintf("%d, %d, %d", s.Came, s.Answered, s.Queue))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (b *bench) goodputText() string {
	return fmt.Sprintf("A server process serves %d requests a second, one after another. Calls begin at a rate of %.1f of that, before, while and after the server is killed and away for %v. Each loop has a process, with a goroutine for each call, and a server of its own. "+
		"As many requests as the server serves in a second wait in its queue; any more are answered 503 at once, which costs this server nothing. "+
		"*Goodput* is the calls that end well, in parts of what the server can serve, since it accepts connections again. Since calls go on to begin, those that waited take it %v at least; whoever waits for less than the outage and this may be given up.\n\n"+
		"All is as it comes, but where another `MaxWait` is named: outlast's calls and witan-core's wait for up to 150 s, cenkalti/backoff's for 15 minutes. witan-core's loop is the policy that equals it, delay by delay; its own client is Python, with a thread for each call.\n\n",
		goodputCapacity, goodputOffered, b.away, time.Duration(float64(b.away)*goodputOffered/(1-goodputOffered)).Truncate(time.Second))
}
