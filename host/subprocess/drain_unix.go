//go:build unix

package subprocess

import (
	"syscall"
	"time"
)

// maxPipe is what a pipe holds at most: Linux's default for
// /proc/sys/fs/pipe-max-size; other systems' pipes are smaller.
const maxPipe = 1 << 20

// drain reads what is in the pipe, without waiting for more. A deadline passed
// while we were writing, so there may be something of the child's.
func (s *stream) drain(buf []byte) {
	if s.source.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := s.source.SyscallConn()
	if err != nil {
		return
	}
	for left := maxPipe; left > 0; {
		n := 0
		readNow := func(fd uintptr) bool {
			n = readOnce(int(fd), buf[:min(len(buf), left)])
			return true // the pipe is non-blocking, and we do not wait
		}
		if raw.Read(readNow) != nil || n <= 0 || !s.take(buf[:n]) {
			return
		}
		left -= n
	}
}

// readOnce is how much could be read; 0 at the end or if there is nothing.
func readOnce(fd int, buf []byte) int {
	for {
		n, err := syscall.Read(fd, buf)
		if err != syscall.EINTR {
			return max(n, 0)
		}
	}
}
