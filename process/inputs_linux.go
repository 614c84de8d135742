package process

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fionread    = unix.TIOCINQ
	descriptors = "/proc/self/fd"
)

func dupOver(from, to int) error { return unix.Dup3(from, to, 0) }

func isTTY(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// openAgain opens the file behind a descriptor anew, with a place of its own; nil
// if that is not allowed.
func openAgain(fd int) *os.File {
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return nil
	}
	return f
}

// isLocked says whether a lock is held through this descriptor, which another one
// would not have.
func isLocked(fd int) bool {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	return err != nil || strings.Contains(string(info), "lock:")
}

// times is when a terminal was last read and written to, in seconds.
func times(fd int) (read, written int64, err error) {
	var stat unix.Stat_t
	err = unix.Fstat(fd, &stat)
	return int64(stat.Atim.Sec), int64(stat.Mtim.Sec), err
}

func setTimes(fd int, read, _ int64) error {
	at := []unix.Timespec{unix.NsecToTimespec(read * int64(time.Second)), {Nsec: unix.UTIME_OMIT}}
	return unix.UtimesNanoAt(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), at, 0)
}

func unixNow() int64 { return time.Now().Unix() }
