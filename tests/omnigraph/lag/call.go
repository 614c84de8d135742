package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"outlast/tests/omnigraph/life"
)

// sample is one call through one outage.
type sample struct {
	call      string
	succeeded bool
	applied   int
	attempts  int
	lag       time.Duration
}

// one makes a call that begins somewhere in the outage.
func (m *measurement) one(ctx context.Context, n int) (s sample, err error) {
	s.call = calls[n%len(calls)]
	id := fmt.Sprint("call", n)
	house := life.House{Program: m.at("omnigraph-server"), Release: m.release, Ledger: m.at(id + ".ledger")}
	if house.Address, err = life.FreeAddress(); err != nil {
		return s, err
	}
	ended := make(chan error, 1)
	began := time.Now()
	go func() {
		time.Sleep(time.Duration(n*7%20) * m.outage / 20)
		ended <- m.call(ctx, id, s.call, house.Address, &s.succeeded)
	}()
	time.Sleep(time.Until(began.Add(m.outage)))
	server, err := house.Start("-loading", m.loading.String())
	if err != nil {
		return s, err
	}
	defer server.Kill()
	ready, err := server.Ready()
	if err != nil {
		return s, err
	}
	if err := <-ended; err != nil {
		return s, err
	}
	applied, err := house.Applied()
	if err != nil {
		return s, err
	}
	s.applied = applied[id]
	starts, err := m.starts(id)
	if err != nil {
		return s, err
	}
	s.attempts = len(starts)
	s.lag = max(0, starts[len(starts)-1].Sub(ready)) // an attempt may start just before, and connect after
	return s, nil
}

func (m *measurement) call(ctx context.Context, id, call, address string, succeeded *bool) error {
	words := strings.Fields(call)
	args := append([]string{"run", "-q", "--", "omnigraph", words[0], "everybody"}, words[1:]...)
	cmd := exec.CommandContext(ctx, m.tool, append(args, "--params", id, "--server", "http://"+address, "--graph", "people")...)
	cmd.Env = m.env(id)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if *succeeded = err == nil; err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n%s", id, call, err, &out)
	}
	return ctx.Err()
}

// starts are when the call's attempts began, as the stand-in noted.
func (m *measurement) starts(id string) (list []time.Time, err error) {
	text, err := os.ReadFile(m.at(id + ".log"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var run struct{ Began int64 }
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			return nil, err
		}
		list = append(list, time.Unix(0, run.Began))
	}
	slices.SortFunc(list, time.Time.Compare)
	return list, nil
}

// row prints a line, and says whether the goals are met in it.
func (m *measurement) row(call string, of []sample) bool {
	var succeeded, once, most int
	var lags []time.Duration
	for _, s := range of {
		if s.succeeded {
			succeeded++
			lags = append(lags, s.lag)
		}
		if s.applied == 1 || (strings.HasPrefix(s.call, "query") && s.applied == 0) {
			once++
		}
		most = max(most, s.attempts)
	}
	if len(lags) == 0 {
		fmt.Printf("%-16s%7d%10d%14d%10d\n", call, len(of), succeeded, once, most)
		return false
	}
	p50, p99 := quantile(lags, 0.5), quantile(lags, 0.99)
	fmt.Printf("%-16s%7d%10d%14d%10d%12v%10v%10v\n", call, len(of), succeeded, once, most, short(p50), short(p99), short(slices.Max(lags)))
	return succeeded == len(of) && once == len(of) && most <= m.attempts() && p50 <= goalP50 && p99 <= goalP99
}

func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// quantile is the value that a part of the values does not exceed: one of them.
func quantile(values []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(part * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
