package simulate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"outlast/abi"
	"outlast/plugin/policy"
)

// chunk is how many courses a worker takes at a time (a choice).
const chunk = 256

// outage plays the calls up to the first outage's end. Nothing that a caller
// does until then changes what another meets, so each course of the jitter is
// decided upon once, for all callers who follow it.
func (r *run) outage(ctx context.Context) error {
	courses := r.Callers
	if r.Courses > 0 {
		courses = min(courses, r.Courses)
	}
	var taken atomic.Int64
	workers := make([]*courseWorker, r.workers)
	var wait sync.WaitGroup
	for i := range workers {
		w := &courseWorker{run: r, gaveUp: map[string]int{}}
		workers[i] = w
		wait.Go(func() {
			for w.err == nil && ctx.Err() == nil {
				from := int(taken.Add(chunk)) - chunk
				if from >= courses {
					return
				}
				for c := from; c < min(from+chunk, courses) && w.err == nil; c++ {
					w.follow(uint32(c), courses)
				}
			}
		})
	}
	wait.Wait()
	for _, w := range workers {
		if w.err != nil {
			return w.err
		}
		w.give()
	}
	return ctx.Err()
}

// courseWorker plays courses, with counts of its own.
type courseWorker struct {
	*run
	bins      bins
	out       []caller
	gaveUp    map[string]int
	leftOut   int
	decisions int
	err       error
	steps     []step
	call      abi.Call
}

// step is a decision of a course, while the server is away, and what follows.
type step struct {
	decision
	wait  wait // as of a call that begins at 0
	state string
}

// give adds a worker's counts to the run's.
func (w *courseWorker) give() {
	for i, b := range w.bins {
		sum := w.run.bins.at(Tick * time.Duration(i))
		sum.Arrivals += b.Arrivals
		sum.Wasted += b.Wasted
	}
	for why, n := range w.gaveUp {
		w.report.GaveUp[why] += n
	}
	w.report.LeftOut += w.leftOut
	w.report.Decisions += w.decisions
	for i := range w.out {
		w.queue.add(w.out[i])
	}
	w.out = nil // a million callers need not be kept twice
}

// follow plays a course for every caller who follows it.
func (w *courseWorker) follow(course uint32, courses int) {
	w.steps, w.call = w.steps[:0], w.run.call(course)
	for id := int(course); id < w.Callers && w.err == nil; id += courses {
		w.member(uint32(id))
	}
}

// member plays one caller until it may meet a server that is back, or loads.
func (w *courseWorker) member(id uint32) {
	begin := w.begins[id]
	look := w.look(id)
	c := caller{id: id, wait: first(begin, look)}
	for n := 0; ; n++ {
		how, at := c.wait.end(&w.Scene, w.away[:1])
		c.at = at
		if how == abi.Woken || c.at >= w.away[0].To-w.Scene.Loading || begin < w.away[0].From {
			w.out = append(w.out, c)
			return
		}
		if n == len(w.steps) && !w.extend(n) {
			return
		}
		s := &w.steps[n]
		if log := w.sample[id]; log != nil {
			*log = append(*log, s.decision)
		}
		if how == abi.Down {
			w.leftOut++
		} else {
			c.tried = true
			bin := w.bins.at(c.at)
			bin.Arrivals++
			bin.Wasted++
		}
		if s.action.Type == abi.Stop {
			w.gaveUp[why(s.action.Outcome)]++
			return
		}
		c.wait, c.state = s.wait.shifted(begin, look), s.state
	}
}

// extend makes a course's next decision: the server is away for ever.
func (w *courseWorker) extend(n int) bool {
	before, state := first(0, 0), ""
	if n > 0 {
		before, state = w.steps[n-1].wait, w.steps[n-1].state
	}
	how, at := before.end(&w.Scene, never)
	event, now := abi.Event{Type: how, NowUS: clock(at, 0)}, at
	if how == abi.Attempted {
		now = at + w.Scene.Takes
		event = attempted(0, at, now, &w.Scene.Results.Down)
	}
	action, next, err := policy.Decide(w.Policy, &w.call, state, &event, false)
	if err == nil && action.Repair {
		err = notSimulated(&action)
	}
	if w.decisions++; err != nil {
		w.err = err
		return false
	}
	w.steps = append(w.steps, step{decision{event, action}, before.next(now, &action, how), next})
	return true
}

// never is an outage that does not end.
var never = []Span{{0, 1 << 62}}

// shifted is the wait of a call that begins at another time than 0, and looks
// at a time of its own.
func (w *wait) shifted(begin, look time.Duration) wait {
	return wait{from: w.from + begin, due: w.due + begin, since: w.since + begin, look: look, wake: w.wake}
}

// look is when a caller looks. Callers are separate processes, so they do not look
// at the same moments, unless one does for all of its machine.
func (r *run) look(id uint32) time.Duration {
	if r.machines != nil {
		id /= uint32(r.PerMachine)
	}
	apart := r.Scene.look() / time.Microsecond
	return time.Duration(below(random(r.Seed, uint64(id), 1), uint64(apart)+1)) * time.Microsecond
}
