//go:build unix

package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ownPipe is a pipe that this package made. Its descriptors are asked for once: File.Fd makes
// a descriptor a blocking one each time, for everybody who shares it.
type ownPipe struct {
	read, write     *os.File
	readFD, writeFD int
}

func openPipe() (*ownPipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &ownPipe{r, w, int(r.Fd()), int(w.Fd())}, nil
}

// close may be called twice, and for nil.
func (p *ownPipe) close() {
	if p != nil {
		p.read.Close()
		p.write.Close()
	}
}

// empty says that nothing can be read at this moment.
func (p *ownPipe) empty() (bool, error) {
	fds := []unix.PollFd{{Fd: int32(p.readFD), Events: unix.POLLIN}}
	err := poll(fds, 0)
	return fds[0].Revents&unix.POLLIN == 0, err
}

// discard reads what is left, without waiting for more, and says how much.
func (p *ownPipe) discard(buf []byte) (n int) {
	for {
		if empty, err := p.empty(); empty || err != nil {
			return n
		}
		k, err := uninterrupted(func() (int, error) { return unix.Read(p.readFD, buf) })
		if k == 0 || err != nil {
			return n
		}
		n += k
	}
}

// poll is poll(2); a negative time is for ever.
func poll(fds []unix.PollFd, limit time.Duration) error {
	timeout := -1
	if limit >= 0 {
		timeout = int(limit.Milliseconds())
	}
	_, err := uninterrupted(func() (int, error) { return unix.Poll(fds, timeout) })
	return err
}

// uninterrupted calls f until no signal interrupts it, and makes -1 a 0.
func uninterrupted[N int | int64](f func() (N, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return int(max(n, 0)), err
		}
	}
}
