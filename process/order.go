package process

import "sync"

// order is the order in which two streams that go to one place were read: as they
// were written, unless both had something to read at the same moment.
type order struct {
	mu   sync.Mutex
	runs []run
}

type run struct {
	of    *stream
	bytes int
}

// note is called with each piece, before it is held; nil notes nothing.
func (o *order) note(s *stream, bytes int) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.runs) - 1; last >= 0 && o.runs[last].of == s {
		o.runs[last].bytes += bytes
	} else if last < holdBytes { // more cannot be held
		o.runs = append(o.runs, run{s, bytes})
	}
}

// commit writes what is held of both in that order, up to the end of the first
// failure; each stream's own commit does the rest.
func (o *order) commit() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		if !r.of.commitPart(r.bytes) {
			return
		}
	}
	o.runs = nil
}

// commitPart writes the beginning of what is held, and forgets it.
func (s *stream) commitPart(n int) bool {
	s.mu.Lock()
	part := s.got.first[:min(n, len(s.got.first))]
	if s.live {
		part = nil
	} else {
		s.got.first = s.got.first[len(part):]
	}
	s.mu.Unlock()
	if s.out == nil || len(part) == 0 {
		return true
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(part)
}
