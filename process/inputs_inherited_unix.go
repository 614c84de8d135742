//go:build unix

package process

import (
	"os"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// inheritedFrom is the descriptors from a number up that a process which this one
// starts gets, and so what it has inherited itself: Go opens none like that.
func inheritedFrom(first int) []int {
	dir, err := os.Open(descriptors)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var numbers []int
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil || n < first {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// jobserver is how make tells its children of its pool of tokens: by the numbers of
// a pipe's ends, or as a FIFO.
var jobserver = regexp.MustCompile(`--jobserver-(?:auth|fds)=(?:(-?\d+),-?\d+|fifo:(\S+))`)

func isJobserver(number int, stat *unix.Stat_t) bool {
	for _, m := range jobserver.FindAllStringSubmatch(os.Getenv("MAKEFLAGS"), -1) {
		var fifo unix.Stat_t
		if m[1] == strconv.Itoa(number) || m[2] != "" && unix.Stat(m[2], &fifo) == nil && sameInode(stat, &fifo) {
			return true
		}
	}
	return false
}

func sameInode(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// hasOtherEnd says whether a pipe's end for writing was inherited too.
func hasOtherEnd(pipe *unix.Stat_t, number int, all []int) bool {
	return slices.ContainsFunc(all, func(n int) bool {
		var stat unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
		return n != number && err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY &&
			unix.Fstat(n, &stat) == nil && sameInode(pipe, &stat)
	})
}

// listens says that a socket takes connections, and gives no bytes itself.
func listens(fd int) bool {
	yes, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	return err == nil && yes != 0
}
