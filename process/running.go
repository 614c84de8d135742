package process

import "sync"

// running is the pids of all attempts' processes that nobody has waited for
// yet. They are no orphans that may be reaped here, and what one of them started is
// not another's.
var running = pidSet{pids: map[int]bool{}}

type pidSet struct {
	mu   sync.Mutex
	pids map[int]bool
}

func (s *pidSet) add(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pids[pid] = true
}

func (s *pidSet) remove(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, pid)
}

func (s *pidSet) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pids[pid]
}

// others is whether an attempt of another pid runs.
func (s *pidSet) others(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pids) > 1 || len(s.pids) == 1 && !s.pids[pid]
}
