package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// suite is a package's benchmarks that are run.
type suite struct {
	pkg, bench string
	flags      []string
}

// suites run in turn, round by round.
var suites = []suite{
	{"cmd/outlast", "^BenchmarkWrapped$", []string{"-test.benchtime=0.7s"}},
	{"host/internal/engine", ".", []string{"-test.benchtime=0.4s"}},
	{"host", ".", []string{"-test.benchtime=0.4s", "-test.skip=Waiting"}},
	{"host", "Waiting", []string{"-test.benchtime=1x"}},
	{"httpretry", "^BenchmarkAnswered$", []string{"-test.benchtime=5000x"}},
}

// suiteLimit is when a suite is ended (a choice: several times what one takes;
// go test itself has no limit for benchmarks).
const suiteLimit = 90 * time.Second

// errLimit is of a suite that is not tried again in the next round.
var errLimit = errors.New("it had not ended within the limit")

var callersSuite = suite{"ready", "^BenchmarkCallers$", []string{"-test.benchtime=1x", "-outage=10s"}}

// gauge is a benchmark with what it measured, by unit, a value for each round.
type gauge struct {
	name   string // with its package, and without the number of cores
	values map[string][]float64
}

// median of a unit; false: it was not measured.
func (g *gauge) median(unit string) (float64, bool) {
	if len(g.values[unit]) == 0 {
		return 0, false
	}
	return quantile(g.values[unit], 0.5), true
}

// gauges are in the order in which they were first seen.
type gauges []*gauge

func (all *gauges) add(name, unit string, value float64) {
	var g *gauge
	for _, known := range *all {
		if known.name == name {
			g = known
		}
	}
	if g == nil {
		g = &gauge{name: name, values: map[string][]float64{}}
		*all = append(*all, g)
	}
	g.values[unit] = append(g.values[unit], value)
}

// matching are those whose name without the prefix a pattern matches; they have
// that name.
func (all gauges) matching(prefix, pattern string) (list gauges) {
	find := regexp.MustCompile(pattern)
	for _, g := range all {
		if name, ok := strings.CutPrefix(g.name, prefix); ok && find.MatchString(name) {
			list = append(list, &gauge{strings.ReplaceAll(name, "_", " "), g.values})
		}
	}
	return list
}

// measured runs Go's benchmarks, once for all parts that need them: the first
// of these tells what failed.
func (b *bench) measured() (all gauges, failed []string) {
	if b.gauges != nil {
		return b.gauges, nil
	}
	stuck := map[string]bool{}
	for round := range b.rounds {
		for _, s := range suites {
			if stuck[s.pkg+s.bench] {
				continue
			}
			if err := b.runSuite(s, &b.gauges); err != nil {
				stuck[s.pkg+s.bench] = errors.Is(err, errLimit)
				failed = append(failed, fmt.Sprintf("%s, benchmarks %q, round %d failed: %v.", s.pkg, s.bench, round+1, err))
			}
		}
	}
	return b.gauges, failed
}

// runSuite builds a package's tests, if they are not, and runs its benchmarks.
func (b *bench) runSuite(s suite, into *gauges) error {
	binary := b.at(strings.ReplaceAll(s.pkg, "/", "-") + ".test")
	if _, err := os.Stat(binary); err != nil {
		build := exec.Command("go", "test", "-c", "-o", binary, "./"+s.pkg)
		build.Dir = b.root
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %s", err, lastLine(out))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), suiteLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"-test.run=^$", "-test.bench=" + s.bench}, s.flags...)...)
	cmd.Dir, cmd.WaitDelay = filepath.Join(b.root, s.pkg), time.Second
	out, err := cmd.Output()
	parse(s.pkg, out, into) // those that did run count
	if ctx.Err() != nil {
		return fmt.Errorf("%w of %v", errLimit, suiteLimit)
	}
	if err != nil {
		return fmt.Errorf("%v: %s", err, lastLine(out))
	}
	return nil
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse reads lines such as "BenchmarkName/case-2   100   12.3 ns/op   4 B/op".
func parse(pkg string, out []byte, into *gauges) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		found := benchLine.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		fields := strings.Fields(found[2])
		for i := 0; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				into.add(pkg+"/"+found[1], fields[i+1], value)
			}
		}
	}
}

func lastLine(out []byte) string {
	out = bytes.TrimSpace(out)
	return string(out[bytes.LastIndexByte(out, '\n')+1:])
}
