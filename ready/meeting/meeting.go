// Package meeting lets the processes of a user on a machine that look at the same
// server find each other, so that one of them looks for all.
//
// They meet at a Unix socket in a directory that is the user's alone. Its name
// ends in a term, a number that only grows: who finds the highest term's socket
// dead, or its looker silent, puts one with the next number there. A file system
// gives a name to one of several that want it at the same time, so no lock is
// held, which a stopped process could keep. A looker whose name is gone has been
// followed by another, and looks for nobody any more.
//
// docs/looking.md is the protocol, which other languages speak too.
package meeting

import (
	"errors"
	"net"
	"os"
)

// ErrAlone says that nothing can be shared here, and why not is of no use to a
// caller: it looks for itself, as it would anywhere.
var ErrAlone = errors.New("nothing is shared here")

// Place is where those meet who want to know the same.
type Place struct {
	dir  string
	name string // of a socket, without its term
}

// Seat is the looker's: its listener, for as long as nobody has followed it.
type Seat struct {
	*net.UnixListener
	Term  int64
	place *Place
	file  os.FileInfo // its socket
}

// Taken says whether the looker has been followed by another, or its socket was
// removed.
func (s *Seat) Taken() bool { return !s.mine() || s.place.Passed(s.Term) }

// mine says whether the name is still this socket's.
func (s *Seat) mine() bool {
	now, err := os.Lstat(s.place.socket(s.Term))
	return err == nil && os.SameFile(now, s.file)
}

// Leave ends the listening. The name stays where somebody waits for a connection's
// end: who follows removes it, and so no two begin again at the first term.
func (s *Seat) Leave(followers bool) {
	if !followers && s.mine() {
		os.Remove(s.place.socket(s.Term))
	}
	s.Close()
}

// Name tells places apart.
func (p *Place) Name() string { return p.name }

// Passed says whether a higher term's looker has followed.
func (p *Place) Passed(term int64) bool {
	highest, err := p.highest()
	return err == nil && highest > term
}
