package simulate

import (
	"time"

	"outlast/internal/turns"
)

// machine is the callers of one machine: they share one look at the server, and go
// to it in turn when it is back.
type machine struct {
	turns   turns.Turns[uint32] // by caller
	waiting []caller            // seen to be woken, and without a turn, in order
	back    time.Duration       // the server's return that they are of
}

// moment is a time of the simulation as turns count it.
func moment(at time.Duration) time.Time { return time.Time{}.Add(at) }

// machineOf is a caller's machine, nil if each is by itself.
func (r *run) machineOf(id uint32) *machine {
	if r.machines == nil {
		return nil
	}
	return &r.machines[int(id)/r.PerMachine]
}

// enqueue adds a caller to the queue, in the place of what is there of it.
func (r *run) enqueue(c caller) {
	if r.live != nil {
		r.live[c.id]++
		c.entry = r.live[c.id]
	}
	r.queue.add(c)
}

// stale says whether an entry of the queue has been replaced.
func (r *run) stale(c *caller) bool { return r.live != nil && c.entry != r.live[c.id] }

// turns handles what is a machine's and no caller's event, and says whether it was.
func (s *server) turns(c *caller) bool {
	m := s.machineOf(c.id)
	switch {
	case m == nil, c.what == itself:
		return false
	case c.what == told && !s.stale(c):
		m.turns.Answered(c.id, moment(c.at))
	}
	s.give(m, c.at)
	return true
}

// park has a caller that is woken wait for its turn, unless it has it. It makes the
// attempt of its schedule all the same.
func (s *server) park(c caller) bool {
	m := s.machineOf(c.id)
	if m == nil || c.granted {
		return false
	}
	if back := s.lastReturn(c.at); back != m.back {
		m.back, m.turns = back, turns.Turns[uint32]{}
	}
	at := c.at
	c.parked, c.at = true, c.wait.due
	s.enqueue(c)
	c.entry = s.live[c.id]
	m.waiting = append(m.waiting, c)
	s.give(m, at)
	return true
}

// lastReturn is when the server came back the last time.
func (s *server) lastReturn(at time.Duration) (back time.Duration) {
	for _, o := range s.away {
		if o.To <= at {
			back = max(back, o.To)
		}
	}
	return back
}

// give gives as many turns as the window has room for.
func (s *server) give(m *machine, at time.Duration) {
	m.turns.Expire(moment(at))
	for len(m.waiting) > 0 && m.turns.Free(moment(at)) && awayAt(s.away, at) == nil {
		c := m.waiting[0]
		m.waiting = m.waiting[1:]
		if s.stale(&c) {
			continue // it has gone by its schedule
		}
		c.granted, c.parked, c.at = true, false, at
		s.enqueue(c)
		m.turns.Begin(c.id, moment(at))
		s.queue.add(caller{id: c.id, what: timer, at: at + turns.Lease})
	}
}

// failed tells a caller's machine that its attempt failed.
func (s *server) failed(id uint32, at time.Duration) {
	m := s.machineOf(id)
	if m == nil {
		return
	}
	m.turns.Failed(id, moment(at))
	s.give(m, at)
	if held := m.turns.Held().Sub(moment(0)); held > at {
		s.queue.add(caller{id: id, what: timer, at: held})
	}
}

// scatter has those who wait for a turn watch for the next return: the server has
// gone away.
func (s *server) scatter(at time.Duration) {
	for i := range s.machines {
		m := &s.machines[i]
		for _, c := range m.waiting {
			if s.stale(&c) {
				continue
			}
			c.parked, c.wait.since = false, at
			_, c.at = c.wait.end(&s.Scene, s.away)
			s.enqueue(c)
		}
		m.waiting = nil
	}
}
