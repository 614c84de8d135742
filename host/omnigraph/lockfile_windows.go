package omnigraph

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, lockFileMode)
}

// flock waits for the lock.
func flock(file *os.File) error { return lockFile(file, 0) }

// tryFlock takes the lock if it is free.
func tryFlock(file *os.File) (bool, error) {
	err := lockFile(file, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// unflock gives the lock up.
func unflock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}

func lockFile(file *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|how, 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}
