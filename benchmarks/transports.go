package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// answered is what a request costs by a client, and how much more by the same client
// with a transport of outlast's, in nanoseconds.
type answered struct {
	client     string
	bare, more float64
}

// transports is what a request that is answered at once costs in each language.
func (b *bench) transports() (section, error) {
	all, notes := b.measured()
	s := section{title: "A request that is answered", notes: notes,
		text: "By a client as it comes and by the same with outlast's transport, in turn, on a connection that is kept; medians. The server is a process of its own, in Go it is in the same one.\n\n"}
	var list []answered
	for _, g := range all.matching("httpretry/Answered/", "") {
		bare, _ := g.median("bare-ns")
		if more, ok := g.median("more-ns"); ok {
			list = append(list, answered{"net/http, " + g.name + " (Go)", bare, more})
		}
	}
	for _, l := range []struct{ language, folder, program, script string }{
		{"Python", "python", ".venv/bin/python", "benchmarks/transports.py"},
		{"Node", "js", "node", "benchmarks/transports.mjs"},
	} {
		found, err := b.transportsOf(l.folder, l.program, l.script, l.language)
		if err != nil {
			s.notes = append(s.notes, fmt.Sprintf("Missing: the clients of %s: %v.", l.language, err))
		}
		list = append(list, found...)
	}
	t := table{header: []string{"client", "alone", "more with outlast", "of it"}}
	for _, a := range list {
		share := a.more / a.bare * 100
		t.rows = append(t.rows, []string{a.client, shortNanos(a.bare), signed(a.more), fmt.Sprintf("%.1f %%", share)})
		if !strings.Contains(a.client, "404") { // which did not succeed
			s.goals = append(s.goals, goal{"more with outlast: " + a.client, "20 µs or 5 %", signed(a.more), a.more <= 20e3 || share <= 5})
		}
	}
	s.add(t, "the benchmarks of transports")
	return s, nil
}

// transportLine is a line of the languages' own benchmarks, in microseconds: the client,
// what it takes alone, and how much more.
var transportLine = regexp.MustCompile(`(?m)^(?:\| )?(.+?)(?: +\| |  +)(\d+) µs(?: \| |, and )(-?[\d.]+) µs`)

// transportsOf runs a language's own benchmark, and reads what it prints.
func (b *bench) transportsOf(folder, program, script, language string) (list []answered, err error) {
	cmd := exec.Command(program, script)
	cmd.Dir = filepath.Join(b.root, folder)
	if filepath.Base(program) != program {
		cmd.Path = filepath.Join(cmd.Dir, program)
		if _, err := os.Stat(cmd.Path); err != nil {
			return nil, err
		}
	}
	out, err := cmd.Output() // Python's fails if a client costs too much: the goals tell so
	for _, found := range transportLine.FindAllSubmatch(out, -1) {
		bare, _ := strconv.ParseFloat(string(found[2]), 64)
		more, _ := strconv.ParseFloat(string(found[3]), 64)
		list = append(list, answered{fmt.Sprintf("%s (%s)", found[1], language), bare * 1e3, more * 1e3})
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}
