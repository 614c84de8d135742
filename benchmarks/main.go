// Command benchmarks measures outlast beside other tools, and writes a page.
//
//	./build.sh bench            everything, and docs/benchmarks.md
//	./build.sh bench outages    one part, printed
//
// It needs the network only for witan-core and the modules of Go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchmarks/goodput"
)

// part is one section of the page.
type part struct {
	name string
	run  func(*bench) (section, error)
}

var parts = []part{
	{"outages", (*bench).outages},
	{"wrapped", (*bench).wrapped},
	{"load", (*bench).load},
	{"decision", (*bench).decision},
	{"waiting", (*bench).waiting},
	{"transports", (*bench).transports},
	{"callers", (*bench).callers},
	{"goodput", (*bench).goodput},
	{"simulated", (*bench).simulated},
}

// bench is one run of the command.
type bench struct {
	root   string // of the repository
	dir    string // for what is built and noted
	count  int
	length []time.Duration
	rounds int
	away   time.Duration
	gauges gauges // of Go's benchmarks; nil until they have run
}

func main() {
	if goodput.Child() {
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	b := &bench{}
	lengths := flag.String("lengths", "10s,30s", "how long the real outages are")
	page := flag.String("page", "", "the page to write (with all parts: docs/benchmarks.md)")
	flag.IntVar(&b.count, "count", 30, "how many real outages of each length")
	flag.IntVar(&b.rounds, "rounds", 3, "how often Go's benchmarks run, in turn; the median counts")
	flag.DurationVar(&b.away, "away", time.Minute, "how long the server of the goodput is away, in whole seconds from 6 s on; it takes some six times as long")
	flag.Usage = usage
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		return err
	}
	if b.length, err = parseLengths(*lengths); err != nil || b.count < 1 || b.rounds < 1 {
		return fmt.Errorf("-lengths, -count, -rounds: expected durations such as 10s,30s, and numbers from 1 on")
	}
	if b.away < 6*time.Second || b.away%time.Second != 0 {
		return fmt.Errorf("-away: %v is not of whole seconds from 6 s on", b.away)
	}
	if b.root, err = filepath.Abs(".."); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "outlast-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if *page == "" && len(chosen) == len(parts) {
		*page = filepath.Join(b.root, "docs", "benchmarks.md")
	}
	return b.write(chosen, *page)
}

// write runs the parts and writes what they found.
func (b *bench) write(chosen []part, page string) error {
	begin, before := time.Now(), machine()
	var sections []section
	for _, p := range chosen {
		fmt.Fprintf(os.Stderr, "bench: %s, after %v\n", p.name, time.Since(begin).Round(time.Second))
		s, err := p.run(b)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		sections = append(sections, s)
	}
	if page == "" {
		fmt.Print(body(sections))
		return nil
	}
	text := head(before, begin, time.Since(begin)) + body(sections)
	fmt.Fprintf(os.Stderr, "bench: %s is written, after %v\n", page, time.Since(begin).Round(time.Second))
	return os.WriteFile(page, []byte(text), 0o644)
}

// choose gives the parts of these names, or all.
func choose(names []string) (chosen []part, err error) {
	for _, p := range parts {
		if len(names) == 0 || slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return nil, fmt.Errorf("%q is no part; the parts are %s", name, strings.Join(partNames(), ", "))
		}
	}
	return chosen, nil
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func parseLengths(list string) (lengths []time.Duration, err error) {
	for _, word := range strings.Split(list, ",") {
		d, err := time.ParseDuration(word)
		if err != nil || d < time.Second {
			return nil, fmt.Errorf("%q is no outage of a second or more", word)
		}
		lengths = append(lengths, d)
	}
	return lengths, nil
}

func usage() {
	fmt.Fprintf(os.Stderr, "Usage: ./build.sh bench [flags] [part …]\nParts: %s\n", strings.Join(partNames(), ", "))
	flag.PrintDefaults()
}
