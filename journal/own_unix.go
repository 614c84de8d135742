//go:build unix

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dirsSync says that a directory can be fsynced.
const dirsSync = true

// checkOwn refuses what another user could change.
func checkOwn(info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, and this is user %d: give a directory of your own", stat.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("other users can write it (mode %04o): chmod 700, or give a directory of your own", mode)
	}
	return nil
}

// openFile opens a record for reading and writing, and makes it.
func openFile(path string, make bool) (*os.File, error) {
	flags := os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK // a FIFO must not hang
	if make {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no regular file")
	case err == nil:
		err = checkOwn(info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// tryLock takes the lock if it is free.
func tryLock(file *os.File) (bool, error) {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives the lock up, for all who have inherited the file.
func unlock(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, how int) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			if failed = unix.Flock(int(fd), how); failed != unix.EINTR {
				return
			}
		}
	})
	return errors.Join(err, failed)
}
