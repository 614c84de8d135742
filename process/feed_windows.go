package process

import "os"

// pipeInput is empty: a read of a pipe cannot be waited for and given up here,
// nor can a pipe be looked into, so it is handed on to one attempt.
type pipeInput struct{}

func (pipeInput) close() error { return nil }

func (s *Stdin) attachPipe(*flag) (*feed, error) {
	return &feed{child: s.file, started: func() { s.lost = errPassed }}, nil
}

func canRead(*os.File) bool  { return true }
func isStream(*os.File) bool { return true }
