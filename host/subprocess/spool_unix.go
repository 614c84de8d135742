//go:build unix

package subprocess

import (
	"fmt"
	"os"
)

// keep appends p to the copy of the input. If it cannot, the input cannot be
// given again, but the attempt that runs goes on.
func (s *Stdin) keep(p []byte) {
	err := s.openSpool()
	if err == nil {
		_, err = s.spool.WriteAt(p, s.length)
	}
	if err != nil {
		s.lost = fmt.Errorf("keeping a copy: %w", plain(err))
		return
	}
	s.length += int64(len(p))
}

// openSpool makes, once, a file that only this process can find: readable by
// its owner alone, and unlinked at once.
func (s *Stdin) openSpool() error {
	if s.spool != nil {
		return nil
	}
	file, err := os.CreateTemp("", "outlast-stdin-")
	if err != nil {
		return err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return err
	}
	s.spool = file
	return nil
}
