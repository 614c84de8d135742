package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// transports is what a request that is answered at once costs by a client, and how much
// more by the same with a transport of outlast's.
func (b *bench) transports() (section, error) {
	all, notes := b.measured()
	s := section{title: "A request that is answered", notes: notes,
		text: "By a client as it comes and by the same with outlast's transport, in turn, on a connection that is kept; medians. The server is a process of its own, in Go it is in the same one.\n\n"}
	list := all.matching("httpretry/Answered/", "")
	for _, g := range list {
		g.name = "net/http, " + g.name + " (Go)"
	}
	for _, l := range []struct{ language, folder, program, script string }{
		{"Python", "python", ".venv/bin/python", "benchmarks/transports.py"},
		{"Node", "js", "node", "benchmarks/transports.mjs"},
	} {
		for range b.rounds {
			if err := b.transportsOf(l.folder, l.program, l.script, l.language, &list); err != nil {
				s.notes = append(s.notes, fmt.Sprintf("Missing: the clients of %s: %v.", l.language, err))
				break
			}
		}
	}
	t := table{header: []string{"client", "alone", "more with outlast", "of it"}}
	for _, g := range list {
		bare, _ := g.median("bare-ns")
		more, _ := g.median("more-ns")
		share := more / bare * 100
		t.rows = append(t.rows, []string{g.name, shortNanos(bare), signed(more), fmt.Sprintf("%.1f %%", share)})
		if !strings.Contains(g.name, "404") { // which did not succeed
			s.goals = append(s.goals, goal{"more with outlast: " + g.name, "20 µs or 5 %", signed(more), more <= 20e3 || share <= 5})
		}
	}
	s.add(t, "the benchmarks of transports")
	return s, nil
}

// transportLine is a line of the languages' own benchmarks, in microseconds: the client,
// what it takes alone, and how much more.
var transportLine = regexp.MustCompile(`(?m)^(?:\| )?(.+?)(?: +\| |  +)(\d+) µs(?: \| |, and )(-?[\d.]+) µs`)

// transportsOf runs a language's own benchmark, and reads what it prints.
func (b *bench) transportsOf(folder, program, script, language string, into *gauges) error {
	cmd := exec.Command(program, script)
	cmd.Dir = filepath.Join(b.root, folder)
	if filepath.Base(program) != program {
		cmd.Path = filepath.Join(cmd.Dir, program)
	}
	out, err := cmd.Output()
	all := transportLine.FindAllSubmatch(out, -1)
	if len(all) == 0 { // Python's fails where a client costs too much, too: the goals tell of that
		return fmt.Errorf("%v: %s", err, lastLine(out))
	}
	for _, found := range all {
		name := fmt.Sprintf("%s (%s)", found[1], language)
		for unit, text := range map[string][]byte{"bare-ns": found[2], "more-ns": found[3]} {
			us, err := strconv.ParseFloat(string(text), 64)
			if err != nil {
				return err
			}
			into.add(name, unit, us*1e3)
		}
	}
	return nil
}
