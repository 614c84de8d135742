package meeting

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// tries bounds how often one tries to enter (a choice: each that fails has met
	// somebody who came or left at that moment).
	tries = 10
	// forgotten is how old the file of a socket must be that was never given its
	// name, until another removes it (a choice: it takes a millisecond).
	forgotten = time.Minute
	// maxSeats bounds the connections of a looker (a choice: each costs it 8 KiB).
	maxSeats = 2000
	// maxTerm keeps a term within what every language's numbers hold exactly.
	maxTerm int64 = 1 << 52
)

// Enter connects to who looks, or takes the seat. gone is the highest term whose
// looker is known to be dead or silent; 0: none. One of seat and conn is nil.
func (p *Place) Enter(gone int64) (seat *Seat, conn *net.UnixConn, term int64, err error) {
	for range tries {
		highest, err := p.highest()
		if err != nil {
			return nil, nil, 0, err
		}
		if highest <= gone {
			seat, err := p.take(gone + 1)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return seat, nil, gone + 1, err
		}
		conn, err := net.DialUnix("unix", nil, p.address(p.socket(highest)))
		switch {
		case err == nil:
			return nil, conn, highest, nil
		case errors.Is(err, syscall.ECONNREFUSED):
			gone = highest
		case !errors.Is(err, fs.ErrNotExist): // that one has just been removed
			return nil, nil, 0, err
		}
	}
	return nil, nil, 0, ErrAlone
}

// highest is the highest term of a socket; 0: there is none.
func (p *Place) highest() (highest int64, err error) {
	err = p.each(p.name+".", func(_, term string) {
		if n, err := strconv.ParseInt(term, 10, 64); err == nil && n <= maxTerm && strconv.FormatInt(n, 10) == term {
			highest = max(highest, n)
		}
	})
	return highest, err
}

// each calls f with the path and the rest of each name that begins so.
func (p *Place) each(begins string, f func(path, rest string)) error {
	dir, err := os.Open(p.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if rest, is := strings.CutPrefix(name, begins); is {
			f(filepath.Join(p.dir, name), rest)
		}
	}
	return err
}

// take listens, and gives the socket its name only then: whoever sees the name can
// connect. The error is fs.ErrExist where another was sooner.
func (p *Place) take(term int64) (*Seat, error) {
	begins := "." + p.name + "."
	hidden := filepath.Join(p.dir, begins+rand.Text()[:12])
	listener, err := net.ListenUnix("unix", p.address(hidden))
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	defer os.Remove(hidden)
	file, err := os.Lstat(hidden)
	if err == nil {
		err = os.Link(hidden, p.socket(term))
	}
	if err != nil {
		listener.Close()
		return nil, err
	}
	p.clear(begins, term)
	return &Seat{listener, term, p, file}, nil
}

// clear removes what lookers before have left.
func (p *Place) clear(begins string, term int64) {
	_ = p.each(p.name+".", func(path, rest string) {
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n < term {
			os.Remove(path)
		}
	})
	_ = p.each(begins, func(path, _ string) {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > forgotten {
			os.Remove(path)
		}
	})
}

func (p *Place) socket(term int64) string {
	return filepath.Join(p.dir, p.name+"."+strconv.FormatInt(term, 10))
}

func (p *Place) address(path string) *net.UnixAddr { return &net.UnixAddr{Name: path, Net: "unix"} }
