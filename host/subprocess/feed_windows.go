package subprocess

import (
	"errors"
	"os"
)

// feed gives one attempt its standard input. A read of a pipe cannot be waited
// for and given up here, so a pipe is handed to the first attempt, and further
// ones are refused.
type feed struct {
	child *os.File // nil: the null device
}

func (s *Stdin) attachPipe() (*feed, error) {
	s.lost = errors.New("on Windows a pipe serves one attempt only; use a file")
	return &feed{child: s.file}, nil
}

func (f *feed) start() {}
func (f *feed) stop()  {}

// isTerminal matters for process groups only, which Windows does not have.
func isTerminal(*os.File) bool { return false }
