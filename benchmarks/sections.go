package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// wrapped is what a wrapper costs a command that succeeds.
func (b *bench) wrapped() (section, error) {
	all, notes := b.measured()
	s := section{title: "A command that succeeds", notes: notes, text: "`true`, run by itself and by what stands before it.\n\n"}
	t := timesTable(all.matching("cmd/outlast/Wrapped/", ""), "what is run", "only execs")
	s.add(t, "BenchmarkWrapped of cmd/outlast")
	base, ours := find(all, "cmd/outlast/Wrapped/", "only.execs"), find(all, "cmd/outlast/Wrapped/", "^outlast")
	if base > 0 && ours > 0 {
		s.goals = append(s.goals, goal{"a command that succeeds, more than with a Go program that only execs", "1 ms", signed(ours - base), ours-base <= 1e6})
	}
	return s, nil
}

// load is what the first decision costs a process.
func (b *bench) load() (section, error) {
	all, notes := b.measured()
	s := section{title: "The first decision of a process", notes: notes,
		text: "From nothing to the first answer: by the linked code, as a program that takes the plugin that comes with it has it, and by the plugin. It is hidden in the first wait, of half a second.\n\n"}
	s.add(timesTable(all.matching("host/FirstDecision/", ""), "through package host", "linked"), "BenchmarkFirstDecision of host")
	s.add(timesTable(all.matching("host/internal/engine/FirstDecision/", ""), "the engine alone", "compiled"), "BenchmarkFirstDecision of host/internal/engine")
	if linked := find(all, "host/FirstDecision/", "^linked"); linked > 0 {
		s.goals = append(s.goals, goal{"first decision, linked code", "40 ms", shortNanos(linked), linked <= 40e6})
	}
	if interpreted := find(all, "host/FirstDecision/", "^interpreted"); interpreted > 0 {
		s.goals = append(s.goals, goal{"first decision, interpreted", "0.25 s", shortNanos(interpreted), interpreted <= 250e6})
	}
	return s, nil
}

// decision is what one decision costs once the plugin is loaded.
func (b *bench) decision() (section, error) {
	all, notes := b.measured()
	s := section{title: "One decision", notes: notes, text: "About a refused connection in the midst of an outage: the policy alone as native Go, the same as the host asks it, compiled by wazero, and interpreted.\n\n"}
	t := timesTable(all.matching("host/Decide/", ""), "in a session", "native")
	s.add(perSecond(t, all.matching("host/Decide/", "")), "BenchmarkDecide of host")
	s.add(metricsTable(all.matching("host/Decisions/", ""), "at the same time"), "BenchmarkDecisions of host")
	s.add(timesTable(all.matching("host/internal/engine/", "^(Decide|Instance)/"), "the engine alone", "compiled"), "BenchmarkDecide of host/internal/engine")
	if compiled := find(all, "host/Decide/", "^compiled"); compiled > 0 {
		s.goals = append(s.goals, goal{"one decision, compiled", "50 µs", shortNanos(compiled), compiled <= 50e3})
	}
	return s, nil
}

// waiting is the memory of calls that wait.
func (b *bench) waiting() (section, error) {
	all, notes := b.measured()
	s := section{title: "Calls that wait", notes: notes, text: "In one Go process, in `Run`: what each adds to the heap and the stacks.\n\n"}
	list := all.matching("host/", "Waiting")
	s.add(metricsTable(list, "benchmark"), "a benchmark named …Waiting of host")
	for _, g := range list {
		if mib, ok := g.median("MiB"); ok {
			s.goals = append(s.goals, goal{"memory of all calls of " + g.name, "64 MiB", digits(mib) + " MiB", mib <= 64})
		}
	}
	return s, nil
}

// callers is many calls that wait for one server.
func (b *bench) callers() (section, error) {
	var all gauges
	s := section{title: "Many callers of one server",
		text: "Goroutines with a real socket each, and one real server that is away for 10 s: how often the process looks at it meanwhile, when its callers come back, and the largest share of them that comes within any 100 ms.\n\n"}
	if err := b.runSuite(callersSuite, &all); err != nil {
		s.notes = append(s.notes, fmt.Sprintf("It failed: %v.", err))
	}
	s.add(metricsTable(all.matching("ready/Callers/", ""), "callers"), "BenchmarkCallers of ready")
	return s, nil
}

// add takes a table in, or says that what it was to have is missing.
func (s *section) add(t table, what string) {
	if len(t.rows) == 0 {
		s.notes = append(s.notes, "Missing: "+what+" measured nothing.")
		return
	}
	s.tables = append(s.tables, t)
}

// timesTable has the time of each benchmark, and its ratio to the first one
// whose name has a word.
func timesTable(list gauges, what, base string) table {
	t := table{header: []string{what, "time", "ratio"}}
	of := 0.0
	for _, g := range list {
		if ns, ok := g.median("ns/op"); ok && of == 0 && strings.Contains(g.name, base) {
			of = ns
		}
	}
	for _, g := range list {
		if ns, ok := g.median("ns/op"); ok {
			t.rows = append(t.rows, []string{g.name, shortNanos(ns), times(ns, of)})
		}
	}
	return t
}

// perSecond adds a column with how many that are in a second.
func perSecond(t table, list gauges) table {
	t.header = append(t.header, "per second")
	i := 0
	for _, g := range list {
		if ns, ok := g.median("ns/op"); ok {
			t.rows[i] = append(t.rows[i], fmt.Sprintf("%.0f", 1e9/ns))
			i++
		}
	}
	return t
}

// metricsTable has all that the benchmarks report besides their time.
func metricsTable(list gauges, what string) table {
	t := table{header: []string{what}}
	for _, g := range list {
		for _, unit := range slices.Sorted(maps.Keys(g.values)) {
			if unit != "ns/op" && !slices.Contains(t.header, unit) {
				t.header = append(t.header, unit)
			}
		}
	}
	for _, g := range list {
		row := []string{g.name}
		for _, unit := range t.header[1:] {
			cell := "–"
			if value, ok := g.median(unit); ok {
				cell = digits(value)
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// find is the time of the first benchmark that a pattern matches, 0 without one.
func find(all gauges, prefix, pattern string) float64 {
	for _, g := range all.matching(prefix, pattern) {
		if ns, ok := g.median("ns/op"); ok {
			return ns
		}
	}
	return 0
}

func signed(ns float64) string {
	if ns < 0 {
		return "−" + shortNanos(-ns)
	}
	return shortNanos(ns)
}
