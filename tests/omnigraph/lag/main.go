// Command lag measures how soon a call goes on once its server is ready again,
// in real outages: a server of the stand-in's is away, then it loads its graphs,
// then it is ready, while the tool waits with a command of the stand-in's.
//
//	go run ./tests/omnigraph/lag                                today's life: away 10 s, loading 20 s
//	go run ./tests/omnigraph/lag -release 0.10 -loading 0s      0.10's: what listens is ready
//
// It ends with 1 if a goal is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// The goals, for calls of a single user each.
const (
	goalP50      = 100 * time.Millisecond
	goalP99      = 350 * time.Millisecond
	goalAttempts = 4
	goalOld      = 2 // attempts, where what listens is ready
)

type measurement struct {
	dir, tool       string
	release         string
	outage, loading time.Duration
}

var calls = []string{"query", "query --json", "mutate", "mutate --json"}

func main() {
	met, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lag:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}

func run() (met bool, err error) {
	m := &measurement{}
	flag.StringVar(&m.release, "release", "0.13", "the `RELEASE` whose life it is")
	flag.DurationVar(&m.outage, "outage", 10*time.Second, "how long the server is away")
	flag.DurationVar(&m.loading, "loading", 20*time.Second, "how long it then loads")
	flag.StringVar(&m.tool, "outlast", "", "the `PATH` of the tool (default: built from here)")
	count := flag.Int("count", 64, "how many calls, each with a server of its own")
	parallel := flag.Int("parallel", 8, "how many at a time")
	flag.Parse()
	if m.dir, err = os.MkdirTemp("", "outlast-lag-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(m.dir)
	if err := m.build(); err != nil {
		return false, err
	}
	samples, err := m.all(*count, *parallel)
	if err != nil {
		return false, err
	}
	return m.print(samples), nil
}

func (m *measurement) build() error {
	args := []string{"build", "-o", m.dir + "/", "./tests/omnigraph/omnigraph", "./tests/omnigraph/omnigraph-server"}
	if m.tool == "" {
		args = append(args, "./cmd/outlast")
		m.tool = m.at("outlast")
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func (m *measurement) at(name string) string { return filepath.Join(m.dir, name) }

func (m *measurement) env(id string) []string {
	return []string{
		"PATH=" + m.dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + m.dir, "NO_PROXY=*",
		"STANDIN_RELEASE=" + m.release, "STANDIN_LOG=" + m.at(id+".log"),
	}
}

// all makes the calls, so many at a time, each a little later than the one
// before, so that the moments when the servers are ready lie apart.
func (m *measurement) all(count, parallel int) (samples []sample, err error) {
	var running sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, parallel)
	for n := range count {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(context.Background(), m.outage+m.loading+3*time.Minute)
			defer cancel()
			s, fault := m.one(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			samples, err = append(samples, s), errors.Join(err, fault)
		})
		time.Sleep((m.outage + m.loading) / time.Duration(4*parallel))
	}
	running.Wait()
	return samples, err
}

// print prints a line for each call, and says whether the goals are met.
func (m *measurement) print(samples []sample) bool {
	fmt.Printf("release %s, away %v, loading %v; lag from ready to the start of the attempt that succeeded\n\n", m.release, m.outage, m.loading)
	fmt.Printf("%-16s%7s%10s%14s%10s%12s%10s%10s\n", "call", "calls", "succeeded", "applied once", "attempts", "lag p50", "p99", "max")
	met := true
	for _, call := range append(slices.Clone(calls), "all") {
		var of []sample
		for _, s := range samples {
			if call == "all" || s.call == call {
				of = append(of, s)
			}
		}
		if len(of) > 0 {
			met = m.row(call, of) && met
		}
	}
	fmt.Printf("\ngoals: p50 %v, p99 %v, at most %d attempts: %s\n", goalP50, goalP99, m.attempts(), map[bool]string{true: "met", false: "MISSED"}[met])
	return met
}

func (m *measurement) attempts() int {
	if m.loading == 0 || m.release == "0.10" {
		return goalOld
	}
	return goalAttempts
}
