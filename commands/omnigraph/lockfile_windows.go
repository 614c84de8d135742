package omnigraph

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

func openLock(path string) (*os.File, error) {
	return openOrMake(path)
}

// flock waits for the lock.
func flock(file *os.File) error { return lockWhole(file, 0) }

// tryFlock takes the lock if it is free.
func tryFlock(file *os.File) (bool, error) {
	err := lockWhole(file, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// unflock gives the lock up.
func unflock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}

func lockWhole(file *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|how, 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}
