//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// source is a real input that can be looked into before anything is taken. Its
// descriptor may be shared with other processes, so its flags are left alone,
// and nothing here waits.
type source interface {
	// peek copies what comes next. 0 is the end; EAGAIN says that there is
	// nothing now.
	peek(fd int, buf []byte) (int, error)
	// take takes what comes next, as much as buf holds or less if less is there.
	take(fd int, buf []byte) error
	close()
}

// openSource finds out how f can be looked into.
func openSource(f *os.File) (src source, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	closed := raw.Control(func(fd uintptr) {
		if _, no := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE); no == nil {
			src = socketSource{}
			return
		}
		src, err = openPipeSource(int(fd))
	})
	return src, errors.Join(closed, err)
}

// claim takes from the real input what the child has taken. Where another
// process has read some of that meanwhile, the child has it too, and only the
// rest is taken: what the child does not have must not get lost. room is as large
// as taken at least.
func claim(src source, fd int, taken, room []byte) error {
	if len(taken) == 0 {
		return nil
	}
	buf := room[:len(taken)]
	n, err := src.peek(fd, buf)
	if err == unix.EAGAIN {
		n, err = 0, nil
	}
	if err != nil {
		return err
	}
	return src.take(fd, buf[:overlap(taken, buf[:n])])
}

// overlap is how much of taken's end is what there begins with.
func overlap(taken, there []byte) int {
	if len(there) < len(taken) {
		taken = taken[len(taken)-len(there):]
	}
	for !bytes.HasPrefix(there, taken) {
		taken = taken[1:]
	}
	return len(taken)
}

// socketSource looks with MSG_PEEK.
type socketSource struct{}

func (socketSource) peek(fd int, buf []byte) (int, error) {
	return receive(fd, buf, unix.MSG_PEEK)
}

func (socketSource) take(fd int, buf []byte) error {
	for len(buf) > 0 {
		n, err := receive(fd, buf, 0)
		if err == unix.EAGAIN || n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

func (socketSource) close() {}

func receive(fd int, buf []byte, flags int) (int, error) {
	return uninterrupted(func() (int, error) {
		n, _, err := unix.Recvfrom(fd, buf, flags|unix.MSG_DONTWAIT)
		return n, err
	})
}

// readSource is for what cannot be looked into: a page at most is read ahead,
// and held for the next attempt.
type readSource struct {
	ahead []byte
}

func (r *readSource) peek(fd int, buf []byte) (int, error) {
	if len(r.ahead) == 0 {
		b := make([]byte, page)
		n, err := readReady(fd, b)
		if err != nil {
			return 0, err
		}
		r.ahead = b[:n]
	}
	return copy(buf, r.ahead), nil
}

func (r *readSource) take(_ int, buf []byte) error {
	r.ahead = r.ahead[copy(buf, r.ahead):]
	return nil
}

func (*readSource) close() {}

// readReady reads only if that does not wait, for all one can know.
func readReady(fd int, buf []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if err := poll(fds, 0); err != nil {
		return 0, err
	}
	if fds[0].Revents == 0 {
		return 0, unix.EAGAIN
	}
	return uninterrupted(func() (int, error) { return unix.Read(fd, buf) })
}
