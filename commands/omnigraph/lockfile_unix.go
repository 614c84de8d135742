//go:build unix

package omnigraph

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openLock opens the file, for writing where that is allowed: NFS gives an exclusive
// lock for nothing else.
func openLock(path string) (*os.File, error) {
	file, err := openOrMake(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if readable, readErr := os.Open(path); readErr == nil {
			return readable, nil
		}
	}
	return file, err
}

// flock waits for the lock.
func flock(file *os.File) error { return syscallFlock(file, syscall.LOCK_EX) }

// tryFlock takes the lock if it is free.
func tryFlock(file *os.File) (bool, error) {
	err := syscallFlock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unflock gives the lock up, for all who have inherited the file.
func unflock(file *os.File) error { return syscallFlock(file, syscall.LOCK_UN) }

func syscallFlock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
