package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// simulatedRuns is how many calls of each policy are played (a choice).
const simulatedRuns = 10_000

// simulatedPolicies are what outlast simulate is asked to put side by side.
// 42.5 s is the budget that lost to the measured restarts of 52 s and 61 s.
var simulatedPolicies = []string{
	"omnigraph,ready=on", "omnigraph", "witan-core",
	"omnigraph,max-wait=42.5s", "omnigraph,max-wait=55s", "omnigraph,max-wait=61s", "omnigraph,max-wait=75s",
}

// simulation is what simulate --json prints, as far as it is shown.
type simulation struct {
	Calls []struct {
		Label string
		Runs  *struct {
			Runs, Succeeded, Attempts int
			LagMeanUS                 int64   `json:"lag_mean_us"`
			LagUS                     []int64 `json:"lag_quantiles_us"` // 0, 0.5, 0.9, 0.99, 1
		}
	}
}

// simulated plays outages as long as the measured restarts, in virtual time.
func (b *bench) simulated() (section, error) {
	s := section{title: "Simulated restarts of 52 to 61 s", text: fmt.Sprintf("%d calls of each policy, in virtual time, each with a jitter of its own and an outage of its own length, evenly from 52 to 61 s. They begin with the outage. A watched server is noticed as late as the host ever does. Lags are of the calls that survived.\n\n", simulatedRuns)}
	args := []string{"run", "-buildvcs=false", "./cmd/outlast", "simulate", "--json", "--read", "--outage", "uniform:52s..61s", "--runs", fmt.Sprint(simulatedRuns)}
	for _, p := range simulatedPolicies {
		args = append(args, "--policy", p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = b.root, os.Stderr
	out, err := cmd.Output()
	var got simulation
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("Missing: outlast simulate failed: %v.", err))
		return s, nil
	}
	s.add(got.table(), "outlast simulate")
	return s, nil
}

func (got *simulation) table() table {
	t := table{header: []string{"policy", "lag p50", "p90", "p99", "max", "attempts, mean", "not survived"}}
	for _, c := range got.Calls {
		if c.Runs == nil || len(c.Runs.LagUS) != 5 {
			continue
		}
		row := []string{c.Label}
		for _, us := range c.Runs.LagUS[1:] {
			cell := "–"
			if c.Runs.Succeeded > 0 {
				cell = short(time.Duration(us) * time.Microsecond)
			}
			row = append(row, cell)
		}
		runs := float64(c.Runs.Runs)
		t.rows = append(t.rows, append(row, digits(float64(c.Runs.Attempts)/runs), percent(1-float64(c.Runs.Succeeded)/runs)))
	}
	return t
}

func percent(share float64) string { return digits(share*100) + " %" }
