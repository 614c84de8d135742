//go:build unix

package process

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// held is a pipe or socket that is handed on.
type held struct {
	fd     int
	name   string
	socket bool
	bytes  int // that could be read before the attempt; -1: unknown
}

func (h *held) before() { h.bytes = h.readable() }

func (h *held) readable() int {
	n, err := unix.IoctlGetInt(h.fd, fionread)
	if err != nil {
		return -1
	}
	return n
}

// after: of a socket that held nothing it is unknown whether something came and
// was read. A pool that is as full as before has got back what was taken.
func (h *held) after() error {
	now := h.readable()
	if h.socket && h.bytes == 0 && now == 0 && !h.open() {
		return nil
	}
	if now >= h.bytes && now >= 0 && (now > 0 || !h.socket) {
		return nil
	}
	if h.socket {
		return fmt.Errorf("%s is a socket, and the command may have read from it", h.name)
	}
	return fmt.Errorf("the command has read from %s, a pipe that others share", h.name)
}

// open says whether something can still come.
func (h *held) open() bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	return poll(fds, 0) != nil || fds[0].Revents == 0
}

// placed is a file that is handed on, with a place that others share.
type placed struct {
	fd    int
	name  string
	place int64
}

func (p *placed) before() { p.place, _ = unix.Seek(p.fd, 0, io.SeekCurrent) }

func (p *placed) after() error {
	now, err := unix.Seek(p.fd, 0, io.SeekCurrent)
	if err != nil || now == p.place {
		return nil
	}
	return fmt.Errorf("%s is a file that others can read too, and its place has moved from byte %d to %d", p.name, p.place, now)
}

// onlyOnce is what can be read once.
type onlyOnce struct{ name string }

func (onlyOnce) before() {}

func (o onlyOnce) after() error {
	return fmt.Errorf("%q is a named pipe, which gives what is in it once", o.name)
}

// terminal is one that is handed on. The system notes when it was last read.
type terminal struct {
	fd         int
	name       string
	read       int64 // in seconds
	unsure     bool  // a read would not be seen
	foreground bool
}

// granule is in what steps Linux notes it, so that nobody can time keystrokes: a
// time is changed when it differs by more than the last 3 bits of its seconds.
const granule = 8

func (in *Inputs) watchTerminal(fd int, name string) {
	if isTTY(fd) {
		in.watched = append(in.watched, &terminal{fd: fd, name: name})
	}
}

// before makes the time of the last read so old that a read will change it.
func (t *terminal) before() {
	t.foreground = inForeground()
	read, written, err := times(t.fd)
	now := unixNow()
	if err == nil && read/granule >= now/granule {
		read = now/granule*granule - 1
		err = setTimes(t.fd, read, written)
	}
	t.read, t.unsure = read, err != nil
}

// after: who is not in the foreground can read nothing; the shell that is may.
func (t *terminal) after() error {
	if !t.foreground && !inForeground() {
		return nil
	}
	if read, _, err := times(t.fd); err == nil && read == t.read && !t.unsure {
		return nil
	}
	return fmt.Errorf("%s is a terminal, and what was typed there is not typed again", t.name)
}
