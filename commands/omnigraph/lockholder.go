package omnigraph

import (
	"fmt"
	"strings"
	"unicode"
)

// Holder is a process that holds a store's lock. Its zero value is one that
// cannot be seen from here: another user's, another container's, or any where
// the system does not tell.
type Holder struct {
	PID  int
	Name string // the program's, as the system has it: at most 15 bytes on Linux
	// Above says that it is an ancestor of this process, so that it waits for it
	// and has been left with the lock.
	Above bool
}

// String is the holder as a message names it. Nothing in a name can mislead a
// terminal.
func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that cannot be seen from here"
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, h.Name)
	if name == "" {
		return fmt.Sprintf("process %d", h.PID)
	}
	return fmt.Sprintf("%s (process %d)", name, h.PID)
}
