package simulate

import (
	"slices"
	"time"
)

// The numbers of turns, as docs/looking.md has them.
const (
	turnLasts = time.Second     // for one that is not taken
	steadyAt  = 3               // times the fastest attempt: from there on the window does not grow
	shrinksAt = 6               // and above that it shrinks
	mostHeld  = 4 * time.Second // no turn is given for so long at most, after failures
)

// machine is the callers of one machine: they share one look at the server, and go
// to it in turn when it is back.
type machine struct {
	window  int
	under   []turn
	waiting []caller // seen to be woken, and without a turn, in order
	back    time.Duration
	fastest time.Duration
	held    time.Duration // no turn before
	hold    time.Duration // the last time that turns were held
}

// turn is one that was given, or an attempt of the schedule.
type turn struct {
	id    uint32
	since time.Duration
}

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
		m.answered(c.id, c.at)
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
		m.back, m.window, m.fastest = back, 1, 0
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
	m.under = slices.DeleteFunc(m.under, func(t turn) bool {
		lost := at >= t.since+turnLasts
		if lost && m.fastest == 0 {
			m.window++ // attempts may just take long
		}
		return lost
	})
	for len(m.waiting) > 0 && len(m.under) < m.window && at >= m.held && awayAt(s.away, at) == nil {
		c := m.waiting[0]
		m.waiting = m.waiting[1:]
		if s.stale(&c) {
			continue // it has gone by its schedule
		}
		c.granted, c.parked, c.at = true, false, at
		s.enqueue(c)
		m.under = append(m.under, turn{c.id, at})
		s.queue.add(caller{id: c.id, what: timer, at: at + turnLasts})
	}
}

// begins notes that an attempt of the machine's is under way.
func (m *machine) begins(id uint32, at time.Duration) {
	if !slices.ContainsFunc(m.under, func(t turn) bool { return t.id == id }) {
		m.under = append(m.under, turn{id, at})
	}
}

func (m *machine) ended(id uint32) {
	m.under = slices.DeleteFunc(m.under, func(t turn) bool { return t.id == id })
}

// answered makes the window larger while attempts take as long as they do alone,
// and smaller where the server has too much to do.
func (m *machine) answered(id uint32, at time.Duration) {
	i := slices.IndexFunc(m.under, func(t turn) bool { return t.id == id })
	if i < 0 {
		return // it took longer than its turn
	}
	took := at - m.under[i].since
	m.under, m.hold = slices.Delete(m.under, i, i+1), 0
	if m.fastest == 0 || took < m.fastest {
		m.fastest = took
	}
	switch {
	case took < steadyAt*m.fastest:
		m.window++
	case took > shrinksAt*m.fastest:
		m.window = max(1, m.window-1)
	}
}

// failed halves the window; where it is 1, turns are held.
func (s *server) failed(id uint32, at time.Duration) {
	m := s.machineOf(id)
	if m == nil {
		return
	}
	m.ended(id)
	if m.window > 1 {
		m.window /= 2
		s.give(m, at)
		return
	}
	m.hold = min(max(2*m.hold, time.Second), mostHeld)
	m.held = at + m.hold
	s.queue.add(caller{id: id, what: timer, at: m.held})
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
