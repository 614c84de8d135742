package omnigraph

import (
	"context"
	"sync"
)

// queueSet has a queue for each lock that this process waits for or holds, so
// that for each only one goroutine is in a system call that cannot be left.
type queueSet struct {
	mu    sync.Mutex
	queue map[string]*queue
}

type queue struct {
	turn  chan struct{} // holds one token while somebody has the turn
	users int           // who have it or wait for it; guarded by the set's mu
}

var queues = queueSet{queue: map[string]*queue{}}

// place is a place at the head of a queue.
type place struct {
	set  *queueSet
	path string
	once sync.Once
}

// enter waits for the head of the queue.
func (s *queueSet) enter(ctx context.Context, path string) (*place, error) {
	s.mu.Lock()
	q := s.queue[path]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		s.queue[path] = q
	}
	q.users++
	s.mu.Unlock()
	select {
	case q.turn <- struct{}{}:
		return &place{set: s, path: path}, nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(q, path)
		return nil, context.Cause(ctx)
	}
}

// leave lets the next one come; only the first time counts.
func (p *place) leave() {
	p.once.Do(func() {
		p.set.mu.Lock()
		defer p.set.mu.Unlock()
		q := p.set.queue[p.path]
		<-q.turn
		p.set.forget(q, p.path)
	})
}

func (s *queueSet) forget(q *queue, path string) {
	if q.users--; q.users == 0 {
		delete(s.queue, path)
	}
}
