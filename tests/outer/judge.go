//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"outlast/journal"
)

// found is what became of all writes.
type found struct {
	writes, runs int
	took         time.Duration
	kills        map[string]int

	ok      int            // told so, and in the ledger once
	twice   int            // in the ledger more than once, whatever was told
	lost    int            // told ok, and not in the ledger; or applied, and nobody was told that it may have been
	inDoubt int            // refused or given up as in doubt, and named by the journal
	doubtOK int            // of these, in the ledger
	failed  int            // given up, and not in the ledger
	byLayer map[string]int // in doubt
}

// judge compares the ledger with what was told.
func (s *storm) judge(took time.Duration) (*found, error) {
	text, err := os.ReadFile(s.ledger())
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	applied := map[string]int{}
	for _, id := range strings.Fields(string(text)) {
		applied[id]++
	}
	doubts, err := s.doubts()
	if err != nil {
		return nil, err
	}
	f := &found{writes: s.writes, took: took, kills: s.kills, byLayer: map[string]int{}}
	for id, t := range s.told {
		f.runs += t.runs
		f.add(applied[id], t, doubts[id])
	}
	return f, nil
}

func (f *found) add(applied int, t told, named bool) {
	if applied > 1 {
		f.twice++
	}
	switch {
	case t.code == 0 && applied == 0, t.code != 0 && applied > 0 && !named:
		f.lost++
	case t.code == 0:
		f.ok++
	case named:
		f.inDoubt++
		f.byLayer[t.layer]++
		if applied > 0 {
			f.doubtOK++
		}
	default:
		f.failed++
	}
}

// doubts are the keys that the journal names as in doubt, or as applied: then
// only the layer has given up, and the next run is answered.
func (s *storm) doubts() (map[string]bool, error) {
	keys := map[string]bool{}
	if !s.journal {
		return keys, nil
	}
	j, err := journal.Open(filepath.Join(s.dir, "journal"), journal.Options{})
	if err != nil {
		return nil, err
	}
	entries, err := j.List()
	for _, e := range entries {
		keys[e.Key] = e.State != journal.NotApplied
	}
	return keys, err
}

func (f *found) isRight() bool { return f.twice == 0 && f.lost == 0 }

func (f *found) String() string {
	return fmt.Sprintf("%d writes in %d runs of outlast, %.0f s; killed: outlast %d, outlast with its command %d, the command %d, the server %d\n"+
		"applied and told so: %d\napplied twice: %d\nlost, or applied without being named: %d\n"+
		"named as in doubt: %d (Job %d, systemd %d, CI %d), of which %d had been applied\ngiven up, not applied: %d\n",
		f.writes, f.runs, f.took.Seconds(), f.kills["outlast"], f.kills["all"], f.kills["command"], f.kills["server"],
		f.ok, f.twice, f.lost, f.inDoubt, f.byLayer["Job"], f.byLayer["systemd"], f.byLayer["CI"], f.doubtOK, f.failed)
}
