package journal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// dirsSync says that a directory can be fsynced.
const dirsSync = false

// checkOwn leaves it to the directory's access list.
func checkOwn(fs.FileInfo) error { return nil }

func openFile(path string, make bool) (*os.File, error) {
	flags := os.O_RDWR
	if make {
		flags |= os.O_CREATE
	}
	return os.OpenFile(path, flags, 0o600)
}

// lockAt is a byte that no record reaches: a lock there keeps nobody from
// reading.
var lockAt = windows.Overlapped{OffsetHigh: 1}

func tryLock(file *os.File) (bool, error) {
	at := lockAt
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(file *os.File) error {
	at := lockAt
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &at)
}
