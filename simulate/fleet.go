package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"outlast/abi"
	"outlast/plugin/policy"
)

// Fleet is many calls against one server.
type Fleet struct {
	Policy   *policy.Document
	Call     abi.Call // what each call is; its Seed is set for each
	Scene    Scene    // with at least one outage; in order
	Server   Server
	Callers  int // from 1 to MaxCallers
	Arrivals Arrivals
	Seed     uint64

	// PerMachine is how many callers each machine has: they share one look at the
	// server, and go to it in turn. 0 or 1: each caller is by itself.
	PerMachine int

	// Courses bounds how many different courses the jitter takes: callers share
	// them beyond that, though not their beginnings. 0: as many as callers.
	Courses int

	// Check gives the plugin's decider for a call, with which each decision of a
	// sample of the callers is made again. nil: none is.
	Check func(call abi.Call) Decider

	brittle bool // the first relapse ends it
}

// MaxCallers bounds a fleet (a choice: the tool needs 260 MB then, and 660 MB if
// each caller has a course of its own; measured).
const MaxCallers = 1_000_000

// DefaultCourses bounds the courses of a fleet of which nothing else is said (a choice:
// the states of so many fit into 150 MB).
const DefaultCourses = 100_000

// MaxPerSecond bounds a server (a choice: one call a microsecond).
const MaxPerSecond = 1_000_000

// Server is what the fleet calls.
type Server struct {
	// PerSecond is how many calls it carries out, one after the other; the others
	// wait in it. 0: as many as come.
	PerSecond int64
	// AdmissionCap is how many may be in it at one time; it refuses more with
	// Results.Busy. 0: any number.
	AdmissionCap int
	// RelapseAt is how many attempts within a tenth of a second knock it over: it
	// is away again for RelapseFor, and what was in it breaks, with
	// Results.Broken. 0: none do.
	RelapseAt  int
	RelapseFor time.Duration
}

// Tick is the width of a report's bins.
const Tick = 100 * time.Millisecond

// slot is the server's step in time. Within one it takes attempts in the order of
// their starts, except that a call which it has refused in the same slot comes
// after the others.
const slot = 10 * time.Millisecond // a choice: a tenth of what is reported

// Bin is what happened in one Tick.
type Bin struct {
	Arrivals int // attempts that started
	Wasted   int // of them: those that did not succeed
	Served   int // calls that were carried out
}

// Report is what a fleet came to.
type Report struct {
	Callers   int
	Served    int
	GaveUp    map[string]int // by why: the outcome's kind and reason
	Bins      []Bin          // from the origin on
	Away      []Span         // with the relapses
	Relapses  int
	Attempts  int
	Wasted    int
	LeftOut   int // waits that ended without an attempt, since the server was seen to be away
	Begun     int // calls whose first attempt met a server that was up
	Broken    int // calls that broke with the server while it carried them out
	InDoubt   int // calls that ended with the word that they may have been applied
	Twice     int // writes that were carried out after they had broken
	Decisions int // that the policy made
	Checked   int // of them: made again by the plugin, and found equal
	Sampled   int // the callers whose decisions they are
}

// check says what is wrong with a fleet.
func (f *Fleet) check() error {
	switch {
	case f.Callers < 1 || f.Callers > MaxCallers:
		return fmt.Errorf("callers: expected from 1 to %d, not %d", MaxCallers, f.Callers)
	case f.PerMachine < 0:
		return errors.New("per machine: expected a number that is not negative")
	case len(f.Scene.Away) == 0:
		return errors.New("outages: there is none")
	case f.Server.PerSecond < 0 || f.Server.PerSecond > MaxPerSecond:
		return fmt.Errorf("capacity: expected up to %d calls a second, not %d", MaxPerSecond, f.Server.PerSecond)
	case f.Server.AdmissionCap < 0 || f.Server.RelapseAt < 0:
		return errors.New("admission cap and relapse: expected numbers that are not negative")
	case f.Server.AdmissionCap > 0 && f.Server.PerSecond == 0:
		return errors.New("admission cap: a server that takes any number a second never has one too many in it: give its capacity too")
	case f.Server.RelapseAt > 0 && f.Server.RelapseFor <= 0:
		return errors.New("relapse: expected how long the server is away then")
	}
	return nil
}

// run is a fleet under way.
type run struct {
	*Fleet
	begins  []time.Duration
	away    []Span
	queue   queue
	bins    bins
	report  Report
	sample  map[uint32]*[]decision
	workers int

	machines []machine // nil: each caller is by itself
	live     []uint32  // of each caller: the entry in the queue that counts
}

// decision is one that was made of a sampled call.
type decision struct {
	event  abi.Event
	action abi.Action
}

// caller is a call between two of its events.
type caller struct {
	id      uint32
	entry   uint32 // the newest of a caller counts
	what    what
	tried   bool          // it has made an attempt
	broke   bool          // an attempt of its broke with the server
	parked  bool          // it waits for its turn
	granted bool          // it has its turn
	at      time.Duration // when the wait ends
	wait    wait
	state   string
}

// what an entry of the queue is.
type what uint8

const (
	itself what = iota // the caller's wait is over
	told               // its machine is told that the server has carried it out
	timer              // its machine may give turns again
)

// Run plays the fleet. The same fleet gives the same report, however many
// processors there are. An error is the policy's, or says that the plugin
// decides otherwise than the policy package.
func (f *Fleet) Run(ctx context.Context) (*Report, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	r := &run{Fleet: f, workers: runtime.GOMAXPROCS(0), sample: map[uint32]*[]decision{}}
	r.away = append(r.away, f.Scene.Away...)
	r.begins = f.Arrivals.begins(f.Callers, f.Seed, r.away[0].From)
	r.report = Report{Callers: f.Callers, GaveUp: map[string]int{}}
	if f.PerMachine > 1 && f.Scene.Watch != nil {
		r.machines = make([]machine, (f.Callers+f.PerMachine-1)/f.PerMachine)
		r.live = make([]uint32, f.Callers)
	}
	if f.Check != nil {
		for i := 0; i < f.Callers; i += max(1, f.Callers/sampled) {
			r.sample[uint32(i)] = new([]decision)
		}
	}
	if err := r.outage(ctx); err != nil {
		return nil, err
	}
	if err := r.serve(ctx); err != nil {
		return nil, err
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	r.report.Away, r.report.Bins = r.away, r.bins
	for _, b := range r.bins {
		r.report.Attempts += b.Arrivals
		r.report.Wasted += b.Wasted
		r.report.Served += b.Served
	}
	return &r.report, nil
}

// Recovered is how long after its first return the server has carried out a
// share of the calls, to a Tick; false if it never does.
func (r *Report) Recovered(share float64) (time.Duration, bool) {
	served := 0
	for i, b := range r.Bins {
		if served += b.Served; float64(served) >= share*float64(r.Callers) {
			return max(0, Tick*time.Duration(i+1)-r.Away[0].To), true
		}
	}
	return 0, false
}

// Peak is the most attempts in one Tick from the server's first return on, and
// when that Tick begins.
func (r *Report) Peak() (arrivals int, at time.Duration) {
	for i := int(r.Away[0].To / Tick); i < len(r.Bins); i++ {
		if r.Bins[i].Arrivals > arrivals {
			arrivals, at = r.Bins[i].Arrivals, Tick*time.Duration(i)
		}
	}
	return arrivals, at
}

// sampled is about how many callers the plugin decides for again (a choice: a
// few thousand decisions, well under a second).
const sampled = 200

// course is the number of the jitter's course that a caller follows.
func (r *run) course(id uint32) uint32 {
	if r.Courses > 0 {
		return id % uint32(r.Courses)
	}
	return id
}

// call is a caller's call, with its seed.
func (r *run) call(id uint32) abi.Call {
	call := r.Call
	seed := int64(random(r.Seed, uint64(r.course(id)), 0) >> 11)
	call.Seed = &seed
	return call
}

// compare makes the sample's decisions again in the plugin.
func (r *run) compare(ctx context.Context) error {
	for id, list := range r.sample {
		d := r.Check(r.call(id))
		for n, made := range *list {
			again, err := d.Next(ctx, made.event)
			if err != nil {
				return err
			}
			if got, want := string(again.Encode()), string(made.action.Encode()); got != want {
				return fmt.Errorf("caller %d, event %d: the plugin decides otherwise than the policy package: %s, not %s", id, n+1, got, want)
			}
			r.report.Checked++
		}
		r.report.Sampled++
	}
	return nil
}

// bins counts, and grows as it must.
type bins []Bin

// at is the bin of a time.
func (b *bins) at(t time.Duration) *Bin {
	i := int(t / Tick)
	for len(*b) <= i {
		*b = append(*b, Bin{})
	}
	return &(*b)[i]
}
