package simulate

import (
	"context"
	"slices"
	"sync"
	"time"

	"outlast/abi"
	"outlast/plugin/policy"
)

// met is a caller's event with what it came to.
type met struct {
	caller
	how     abi.EventType
	verdict verdict
	ended   time.Duration
	next    caller
	action  abi.Action
	err     error
}

// verdict is what a server makes of a caller's event.
type verdict int

const (
	admitted verdict = iota
	down
	busy
	broken
	noAttempt // the caller was woken, or left the attempt out
)

// serve plays the calls from the first return of the server on, slot by slot.
func (r *run) serve(ctx context.Context) error {
	server := &server{run: r}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, any := r.queue.next()
		if !any {
			server.finish(1 << 62)
			return nil
		}
		count := 0
		for {
			list := r.queue.take(at)
			if len(list) == 0 {
				break
			}
			events := server.meet(list)
			for i := range events {
				if events[i].verdict != noAttempt {
					count++
				}
			}
			if err := r.decide(events); err != nil {
				return err
			}
		}
		if events := server.relapse(at, count); events != nil {
			if err := r.decide(events); err != nil {
				return err
			}
			if r.brittle {
				return nil
			}
		}
	}
}

// server is the server's own condition.
type server struct {
	*run
	inside []inside      // in order of their completion
	head   int           // of inside: those before it are done
	free   time.Duration // when it has carried out everything in it
	recent []arrived     // of the last Tick
}

type inside struct {
	caller
	done time.Duration
}

type arrived struct {
	at    time.Duration
	count int
}

// finish counts what is done by a time.
func (s *server) finish(by time.Duration) {
	for ; s.head < len(s.inside) && s.inside[s.head].done <= by; s.head++ {
		if s.inside[s.head].broke && s.Call.Write {
			s.report.Twice++
		}
		s.bins.at(s.inside[s.head].done).Served++
		s.inside[s.head].caller = caller{} // its state may go
	}
	if s.head > 1024 && s.head*2 > len(s.inside) {
		s.inside = append(s.inside[:0], s.inside[s.head:]...)
		s.head = 0
	}
}

// meet says what each of a slot's events comes to, in their order.
func (s *server) meet(list []caller) []met {
	slices.SortFunc(list, func(a, b caller) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return int(a.id) - int(b.id)
	})
	events := make([]met, 0, len(list))
	for _, c := range list {
		if s.turns(&c) || s.stale(&c) {
			continue
		}
		m := met{caller: c, ended: c.at, verdict: noAttempt}
		how, at := c.wait.end(&s.Scene, s.away) // the server may have gone away since it was last asked
		switch {
		case c.granted && awayAt(s.away, c.at) == nil:
			how = abi.Woken
		case c.parked && awayAt(s.away, c.at) != nil:
			how = abi.Down
		case at > c.at: // so nobody is woken yet
			m.at, m.granted = at, false
			s.enqueue(m.caller)
			continue
		case at < c.at: // so it went away and came back unnoticed, in the middle of a wait
			how = abi.Attempted
		}
		m.how = how
		switch {
		case how == abi.Attempted:
			m.verdict, m.ended = s.attempt(&m.caller)
		case how == abi.Woken && s.park(m.caller):
			continue
		}
		events = append(events, m)
	}
	return events
}

// attempt is one that a caller makes, and of which its machine knows.
func (s *server) attempt(c *caller) (verdict, time.Duration) {
	m := s.machineOf(c.id)
	if m != nil {
		s.live[c.id]++ // it waits for no turn any more
		c.entry = s.live[c.id]
		m.turns.Begin(c.id, moment(c.at))
	}
	v, ended := s.admit(c)
	switch {
	case m == nil:
	case v == admitted:
		s.queue.add(caller{id: c.id, entry: c.entry, what: told, at: ended})
	default:
		s.failed(c.id, ended)
	}
	return v, ended
}

func (s *server) admit(c *caller) (verdict, time.Duration) {
	bin := s.bins.at(c.at)
	bin.Arrivals++
	if awayAt(s.away, c.at) != nil {
		bin.Wasted++
		return down, c.at + s.Scene.Takes
	}
	if !c.tried {
		s.report.Begun++
	}
	if s.Server.PerSecond == 0 {
		bin.Served++
		return admitted, c.at
	}
	s.finish(c.at)
	if s.Server.AdmissionCap > 0 && len(s.inside)-s.head >= s.Server.AdmissionCap {
		bin.Wasted++
		return busy, c.at
	}
	s.free = max(s.free, c.at) + time.Second/time.Duration(s.Server.PerSecond)
	s.inside = append(s.inside, inside{*c, s.free})
	return admitted, s.free
}

// relapse knocks the server over at a slot's end if too many attempts came
// within the last Tick, and gives what broke.
func (s *server) relapse(at time.Duration, count int) []met {
	if s.Server.RelapseAt == 0 {
		return nil
	}
	end := at + slot
	s.recent = append(s.recent, arrived{at, count})
	sum := 0
	for s.recent[0].at < end-Tick {
		s.recent = s.recent[1:]
	}
	for _, a := range s.recent {
		sum += a.count
	}
	if awayAt(s.away, at) != nil || awayAt(s.away, end) != nil {
		s.recent = nil // what came while it was away does not count
		return nil
	}
	if sum <= s.Server.RelapseAt {
		return nil
	}
	s.recent = nil
	return s.fall(end)
}

// fall begins an outage: an earlier one than what is planned next.
func (s *server) fall(at time.Duration) []met {
	s.finish(at)
	s.report.Relapses++
	span := Span{at, at + s.Server.RelapseFor + s.Scene.Loading}
	i := slices.IndexFunc(s.away, func(o Span) bool { return o.From > at })
	if i < 0 {
		i = len(s.away)
	}
	for i < len(s.away) && s.away[i].From <= span.To { // the two are one
		span.To = max(span.To, s.away[i].To)
		s.away = slices.Delete(s.away, i, i+1)
	}
	s.away = slices.Insert(s.away, i, span)
	var events []met
	for _, c := range s.inside[s.head:] {
		s.bins.at(c.at).Wasted++
		if !c.broke {
			s.report.Broken++
		}
		c.broke = true
		if s.live != nil {
			s.live[c.id]++ // it is not carried out
		}
		s.failed(c.id, at)
		events = append(events, met{caller: c.caller, how: abi.Attempted, verdict: broken, ended: at})
	}
	s.scatter(at)
	s.inside, s.head, s.free = s.inside[:0], 0, at
	return events
}

// decide asks the policy about events, on every processor where that pays, and
// takes the callers on.
func (r *run) decide(events []met) error {
	const few = 64 // decisions that are not worth a second goroutine (a choice)
	workers := min(r.workers, len(events)/few+1)
	var wait sync.WaitGroup
	for w := range workers {
		part := events[len(events)*w/workers : len(events)*(w+1)/workers]
		work := func() {
			var before *met
			for i := range part {
				if part[i].verdict != admitted {
					r.step(&part[i], before)
					before = &part[i]
				}
			}
		}
		if workers == 1 {
			work()
			continue
		}
		wait.Go(work)
	}
	wait.Wait()
	for i := range events {
		m := &events[i]
		switch {
		case m.err != nil:
			return m.err
		case m.verdict == admitted:
			continue
		case m.how.EndsWait():
			r.report.LeftOut++
		}
		r.report.Decisions++
		if m.action.Type == abi.Stop {
			r.report.GaveUp[why(m.action.Outcome)]++
			if m.action.Outcome.Type == abi.OutcomeIndeterminate {
				r.report.InDoubt++
			}
			continue
		}
		r.enqueue(m.next)
	}
	return nil
}

// step takes a caller on. What the server has taken is not decided upon, unless
// it breaks. before is the event before in the same slot: callers who follow
// the same course and began together meet the same, and get the same answer.
func (r *run) step(m, before *met) {
	if before != nil && before.err == nil && r.alike(m, before) {
		m.action, m.next.state = before.action, before.next.state
	} else {
		call, event := r.call(m.id), r.event(m)
		m.action, m.next.state, m.err = policy.Decide(r.Policy, &call, m.state, &event, false)
	}
	if log := r.sample[m.id]; log != nil {
		*log = append(*log, decision{r.event(m), m.action})
	}
	switch {
	case m.err != nil || m.action.Type == abi.Stop:
		return
	case m.action.Repair:
		m.err = notSimulated(&m.action)
		return
	}
	m.next.id, m.next.tried, m.next.broke = m.id, m.tried || m.verdict != noAttempt, m.broke
	m.next.wait = m.wait.next(m.ended, &m.action, m.how)
	_, m.next.at = m.next.wait.end(&r.Scene, r.away)
}

// alike says whether the policy is asked the same about two events.
func (r *run) alike(a, b *met) bool {
	return r.course(a.id) == r.course(b.id) && a.how == b.how && a.verdict == b.verdict &&
		a.at-r.begins[a.id] == b.at-r.begins[b.id] && a.ended-a.at == b.ended-b.at && a.state == b.state
}

// event is what the policy is told.
func (r *run) event(m *met) abi.Event {
	begin := r.begins[m.id]
	switch m.verdict {
	case down:
		return attempted(begin, m.at, m.ended, &r.Scene.Results.Down)
	case busy:
		return attempted(begin, m.at, m.ended, &r.Scene.Results.Busy)
	case broken:
		return attempted(begin, m.at, m.ended, &r.Scene.Results.Broken)
	}
	event := abi.Event{Type: m.how, NowUS: clock(m.at, begin)}
	if m.how == abi.Woken {
		event.By = m.wait.wake.By
	}
	return event
}

// why is the reason for which a call was not carried out, in a few words.
func why(o *abi.Outcome) string {
	if o.Reason == "" {
		return o.Kind + ", " + string(o.Type)
	}
	return o.Kind + ", " + o.Reason
}
