//go:build unix

package process

import (
	"syscall"
	"time"
)

// maxPipe is what a pipe holds at most: Linux's default for
// /proc/sys/fs/pipe-max-size; other systems' pipes are smaller.
const maxPipe = 1 << 20

// drain reads what is in the pipe, without waiting for more. It is called
// because a deadline passed during a write, so the child may have printed more. It
// says whether another process still holds the pipe.
func (s *stream) drain(buf []byte) (held bool) {
	if s.source.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	raw, err := s.source.SyscallConn()
	if err != nil {
		return false
	}
	for left := maxPipe; left > 0; {
		n := 0
		readNow := func(fd uintptr) bool {
			n, err = readOnce(int(fd), buf[:min(len(buf), left)])
			return true // the pipe is non-blocking, and nothing waits here
		}
		if failed := raw.Read(readNow); failed != nil || err != nil || n == 0 {
			return failed == nil && err == syscall.EAGAIN
		}
		if !s.take(buf[:n]) {
			return false
		}
		left -= n
	}
	return true
}

// readOnce is how much could be read; 0 at the end. EAGAIN: there is nothing.
func readOnce(fd int, buf []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, buf)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
