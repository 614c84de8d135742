package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sample is one call through one outage.
type sample struct {
	tool     int
	survived bool
	lag      time.Duration // from ready to the start of the attempt that succeeded
	spawns   int
	applied  int // how often a write was
	missed   bool
}

// outageRun is the outages of one length.
type outageRun struct {
	*bench
	tools  []tool
	witan  *witan
	length time.Duration

	mu   sync.Mutex
	late []time.Duration // that the server was up after its time: so busy was the machine
}

// patience is how long after the server's return a call may still wait (a
// choice: the longest interval of the tools here is a minute).
const patience = 90 * time.Second

func (b *bench) outages() (section, error) {
	if err := b.buildTools(); err != nil {
		return section{}, err
	}
	w, err := b.startWitan()
	tools, notes := b.tools(err)
	if w != nil {
		defer w.wait()
		defer w.in.Close()
	}
	s := section{title: "Real outages", notes: notes, text: outagesText(b.count)}
	for _, length := range b.length {
		run := &outageRun{bench: b, tools: tools, witan: w, length: length}
		samples, err := run.all()
		if err != nil {
			return s, err
		}
		s.tables = append(s.tables, run.tables(samples)...)
		s.goals = append(s.goals, run.goals(samples)...)
	}
	return s, nil
}

// run runs a command, and is patient.
func (b *bench) run(ctx context.Context, argv []string) error {
	path := argv[0]
	if path == "omnigraph" {
		path = b.at("bin/omnigraph")
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env, cmd.Dir = b.env(), b.at("home")
	return cmd.Run()
}

// all plays the outages, each a little later than the one before, so that the
// moments when their servers are back lie apart.
func (r *outageRun) all() ([]sample, error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var samples []sample
	var faults []error
	for n := range r.count {
		all.Go(func() {
			got, err := r.play(n)
			mu.Lock()
			defer mu.Unlock()
			samples, faults = append(samples, got...), append(faults, err)
		})
		time.Sleep(r.apart())
	}
	all.Wait()
	return samples, errors.Join(faults...)
}

// apart is a choice: of outages of 10 s five go on at a time, of 30 s eight.
func (r *outageRun) apart() time.Duration { return time.Second + r.length/10 }

// play is one outage, which serves a call of each tool.
func (r *outageRun) play(n int) ([]sample, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{program: r.at("server"), address: address, applied: map[string]int{}}
	if _, err := s.start(); err != nil {
		return nil, err
	}
	s.stop()
	back := time.After(r.length)
	ends := make([]error, len(r.tools))
	var calls sync.WaitGroup
	for i := range r.tools {
		calls.Go(func() {
			time.Sleep(r.begin(i, n))
			ends[i] = r.call(i, n, address)
		})
	}
	due := <-back
	up, err := s.start()
	r.mu.Lock()
	r.late = append(r.late, up.Sub(due))
	r.mu.Unlock()
	calls.Wait()
	if err != nil {
		return nil, err
	}
	s.stop()
	return r.samples(n, ends, up, s.applied)
}

// begin is when a call begins: the calls of one outage come close together, one
// after the other in an order that goes round, and later in each outage. The
// last of them has a twentieth of the outage left.
func (r *outageRun) begin(i, n int) time.Duration {
	const crowd = 0.2 // part of the outage in which the calls of one come
	place := (i + n) % len(r.tools)
	part := (0.95-crowd)*float64(n)/float64(r.count) + crowd*float64(place)/float64(len(r.tools))
	return time.Duration(part * float64(r.length))
}

func (r *outageRun) call(i, n int, address string) error {
	if t := &r.tools[i]; t.inWitan {
		return r.witan.call(t.call, address, r.id(i, n), time.After(r.length+patience))
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.length+patience)
	defer cancel()
	return r.run(ctx, r.tools[i].command(address, r.id(i, n)))
}

// id names a call; it is the graph that it asks for.
func (r *outageRun) id(tool, n int) string { return fmt.Sprintf("%v-%d-%d", r.length, tool, n) }

// samples reads what the attempts of the calls have noted.
func (r *outageRun) samples(n int, ends []error, up time.Time, applied map[string]int) (list []sample, err error) {
	for i, end := range ends {
		text, err := os.ReadFile(r.at("attempts/" + r.id(i, n)))
		if err != nil {
			return nil, fmt.Errorf("%s made no attempt: %v, %w", r.tools[i].name, end, err)
		}
		starts := strings.Fields(string(text))
		last, err := strconv.ParseInt(starts[len(starts)-1], 10, 64)
		if err != nil {
			return nil, err
		}
		s := sample{tool: i, survived: end == nil, spawns: len(starts), applied: applied[r.id(i, n)]}
		s.lag = max(0, time.Unix(0, last).Sub(up)) // an attempt may start just before, and connect after
		s.missed = len(starts) == 1 && s.survived
		list = append(list, s)
	}
	return list, nil
}
