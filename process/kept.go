package process

import "slices"

// Kept is what is kept of an attempt's output, to the byte: the first 64 KiB.
type Kept struct {
	Bytes []byte
	Cut   bool // there was more
}

// Kept is what is kept of stdout and stderr, until Commit or Discard.
func (e *Ended) Kept() (stdout, stderr Kept) { return e.stdout.kept(), e.stderr.kept() }

func (s *stream) kept() Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Kept{slices.Clone(s.got.first), s.got.total > int64(len(s.got.first))}
}
