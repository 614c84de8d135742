package main

import (
	"fmt"
	"strings"
	"time"
)

// section is a part of the page.
type section struct {
	title  string
	text   string // before the tables
	tables []table
	notes  []string // what is missing, and why
	goals  []goal
}

type table struct {
	title   string
	header  []string
	rows    [][]string
	remarks []string
}

// goal is what a figure is to be, and what it was.
type goal struct {
	what, want, got string
	met             bool
}

func (t *table) remark(holds bool, format string, args ...any) {
	if holds {
		t.remarks = append(t.remarks, fmt.Sprintf(format, args...))
	}
}

const intro = `# Benchmarks

outlast beside other tools, as ` + "`./build.sh bench`" + ` measured it and wrote it down. Absolute times are this machine's. What can be compared was run in turn, within minutes, so the ratios should hold elsewhere.

`

const noise = `The figures are those of one run. If other programs run on the machine, the times grow, and the worst ones the most: run it again on a quiet machine before you conclude anything from a p99.

`

func head(m []string, begin time.Time, took time.Duration) string {
	return intro + fmt.Sprintf("Measured on %s, in %v:\n\n", begin.Format("2 January 2006"), took.Round(time.Second)) +
		"- " + strings.Join(m, "\n- ") + "\n\n" + noise
}

// body has the goals first, for whoever reads no more.
func body(sections []section) string {
	var b strings.Builder
	if goals := goalTable(sections); len(goals.rows) > 0 {
		b.WriteString("## Goals\n\n" + goals.markdown())
	}
	for _, s := range sections {
		b.WriteString("## " + s.title + "\n\n" + s.text)
		for _, t := range s.tables {
			b.WriteString(t.markdown())
		}
		for _, note := range s.notes {
			b.WriteString(note + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func goalTable(sections []section) table {
	t := table{header: []string{"figure", "at most", "measured", "met"}}
	for _, s := range sections {
		for _, g := range s.goals {
			t.rows = append(t.rows, []string{g.what, g.want, g.got, map[bool]string{true: "yes", false: "**no**"}[g.met]})
		}
	}
	return t
}

func (t *table) markdown() string {
	var b strings.Builder
	if t.title != "" {
		b.WriteString("### " + strings.ToUpper(t.title[:1]) + t.title[1:] + "\n\n")
	}
	row := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	row(t.header)
	b.WriteString("|---" + strings.Repeat("|---:", len(t.header)-1) + "|\n")
	for _, cells := range t.rows {
		row(cells)
	}
	b.WriteString("\n")
	for _, r := range t.remarks {
		b.WriteString(r + "\n\n")
	}
	return b.String()
}

// short is a duration with three digits that count.
func short(d time.Duration) string { return shortNanos(float64(d)) }

func shortNanos(ns float64) string {
	switch {
	case ns >= 1e9:
		return digits(ns/1e9) + " s"
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e3:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

func digits(x float64) string {
	switch {
	case x >= 100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// times is a ratio; there is none to nothing.
func times(x, of float64) string {
	if of <= 0 || x <= 0 {
		return "–"
	}
	return digits(x/of) + " ×"
}
