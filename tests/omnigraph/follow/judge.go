package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// grades are what a verdict can be, the worst last; the last three must not be.
var grades = []string{"right", "safe", "careful", "twin", "vain", "skipped", "timid", "LIE", "UNSAFE"}

const mustNotBe = 3

// grade compares a verdict with what really happened, which the server saw, and
// with what is right.
func (c *cell) grade() string {
	read := c.form.Read()
	verdict := c.said.verdict(read)
	best, _ := c.fault.Want(read)
	took := !read && c.shown.Applied > 0
	switch {
	case c.skipped() != "":
		return "skipped"
	case took && verdict != "ok" && verdict != "indeterminate" && c.fault.Twin == c.form.Format:
		return "twin"
	case took && verdict == "retry":
		return "UNSAFE"
	case took && verdict == "stop":
		return "LIE"
	case verdict == best:
		return "right"
	case c.fault.MayBe(read, verdict):
		return "safe"
	case verdict == "retry" && best == "indeterminate":
		return "UNSAFE"
	case verdict == "retry":
		return "vain"
	case best == "retry" && c.tells():
		return "timid"
	}
	return "careful" // a write that had no effects, and may have had some for all that is known
}

// tells says whether a verb's failures say what they did: of the others nothing
// more is known than that they may have made any number of requests.
func (c *cell) tells() bool {
	return !strings.HasPrefix(c.form.Command, "cluster") && c.form.Command != "optimize"
}

// print prints what was found, and says whether there is anything that must not be.
func (f *follow) print(out io.Writer, cells []*cell) (found bool) {
	f.printNew(out, cells)
	count := map[string]int{}
	fmt.Fprintln(out, "\nverdicts that are not right:")
	for _, c := range cells {
		grade := c.grade()
		count[grade]++
		best, _ := c.fault.Want(c.form.Read())
		switch {
		case grade == "right", grade == "safe", grade == "careful" && !c.tells():
		case grade == "skipped":
			fmt.Fprintf(out, "  %-8s %-15s%-6s %-30s %s\n", grade, c.form.Command, c.form.Format, c.fault.Scenario, c.skipped())
		default:
			fmt.Fprintf(out, "  %-8s %-15s%-6s %-30s %s, by %s; right is %s\n", grade, c.form.Command, c.form.Format, c.fault.Scenario, c.said.verdict(c.form.Read()), c.said.kind, best)
		}
	}
	fmt.Fprintf(out, "\n%d runs:", len(cells))
	for _, grade := range grades {
		if count[grade] > 0 {
			fmt.Fprintf(out, " %d %s", count[grade], grade)
		}
	}
	fmt.Fprintln(out)
	return slices.ContainsFunc(grades[len(grades)-mustNotBe:], func(g string) bool { return count[g] > 0 })
}

// printNew prints what differs from the captures, line by line.
func (f *follow) printNew(out io.Writer, cells []*cell) {
	same, unknown := 0, map[string]int{}
	fmt.Fprintln(out, "new since the captures:")
	for _, c := range cells {
		if c.skipped() != "" {
			continue
		}
		if c.capture == nil {
			unknown[c.form.Command+" "+c.form.Format]++
			continue
		}
		if f.asCaptured(c) {
			same++
			continue
		}
		fmt.Fprintf(out, "  %s, exit %d (captured: %d)\n", c.capture.ID, c.shown.Exit, c.capture.Exit)
		difference(out, "stdout", c.capture.Stdout, f.ofContract(c.shown.Stdout, c.capture.Version))
		difference(out, "stderr", c.capture.Stderr, f.ofContract(c.shown.Stderr, c.capture.Version))
	}
	fmt.Fprintf(out, "  %d runs printed what was captured", same)
	for _, form := range slices.Sorted(maps.Keys(unknown)) {
		fmt.Fprintf(out, "; %d of %s have no capture", unknown[form], form)
	}
	fmt.Fprintln(out)
}

func (f *follow) asCaptured(c *cell) bool {
	shown := c.shown
	shown.Stdout, shown.Stderr = f.ofContract(shown.Stdout, c.capture.Version), f.ofContract(shown.Stderr, c.capture.Version)
	return shown.Same(c.capture)
}

// ofContract puts the captured release's contract in place of this one's.
func (f *follow) ofContract(text, version string) string {
	captured, _, _ := strings.Cut(version, "-")
	return strings.ReplaceAll(text, "mnigraph-http-api: "+f.Contract, "mnigraph-http-api: "+captured)
}

// difference prints the lines that are not in both.
func difference(out io.Writer, stream, captured, shown string) {
	was, is := strings.Split(captured, "\n"), strings.Split(shown, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			fmt.Fprintf(out, "    %s -%q\n", stream, line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			fmt.Fprintf(out, "    %s +%q\n", stream, line)
		}
	}
}
