//go:build unix

// Package omnigraph tests the stand-in for omnigraph, and what becomes of its
// calls when its server restarts: real processes and real sockets.
package omnigraph

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"outlast/tests/omnigraph/faults"
	"outlast/tests/omnigraph/life"
)

// captures are what omnigraph printed, kept with the policy that reads them.
const captures = "../../plugin/policy/testdata/captures-0.13.jsonl"

// patience is when a test gives up. No speed is asserted.
const patience = 60 * time.Second

// built is where TestMain has put the tool, the stand-in and its server.
var built string

func TestMain(m *testing.M) { os.Exit(life.Main(m, &built)) }

// unprovoked are the captures' scenarios that no server's fault brings about.
var unprovoked = []string{
	"429.after_prior_effect",         // no verb makes two requests that have effects
	"local.conflict", "local.format", // of a store, without a server
	"panic", "killed", "cut_off", // the command itself breaks off
	"cluster_apply.lost", "cluster_apply.before", // TestAnAppliedDeploymentIsNotSubmittedAgain
	"banner.spoofed_target", // a graph's name with line ends
}

// The stand-in prints byte for byte what was captured, in each way to fail that
// a server has.
func TestTheStandInPrintsWhatWasCaptured(t *testing.T) {
	list, err := faults.ReadCaptures(captures)
	if err != nil {
		t.Fatal(err)
	}
	named, left := map[string]faults.Fault{}, map[string]bool{}
	for _, f := range faults.All() {
		named[f.Scenario] = f
	}
	for _, c := range list {
		scenario, warned := strings.CutPrefix(c.Scenario, "banner.config_warning.")
		if scenario == "500" {
			scenario = "500.storage"
		}
		if c.Scenario == "real.refused" {
			scenario = "refused"
		}
		fault, known := named[scenario]
		if !known {
			left[scenario] = true
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			contract, _, _ := strings.Cut(c.Version, "-")
			command := &faults.Command{Path: filepath.Join(built, "omnigraph"), Contract: contract, Release: c.Version}
			shown, err := fault.Provoke(t.Context(), command, faults.Form{Command: c.Command, Format: c.Format}, patience)
			if err != nil {
				t.Fatal(err)
			}
			if warned { // the warning itself is the subject of TestTheOperatorsConfiguration
				_, c.Stderr, _ = strings.Cut(c.Stderr, "\n")
			}
			if !shown.Same(&c) {
				t.Errorf("exit %d, captured %d\nstdout %q\n       %q\nstderr %q\n       %q", shown.Exit, c.Exit, shown.Stdout, c.Stdout, shown.Stderr, c.Stderr)
			}
		})
	}
	if got := slices.Sorted(maps.Keys(left)); !slices.Equal(got, slices.Sorted(slices.Values(unprovoked))) {
		t.Errorf("captures without a fault in faults.jsonl: %q", got)
	}
}
