package omnigraph

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// openRegular opens the lock's file, and makes it if it is missing. Anything but
// a regular file is refused before it is opened: a FIFO could hang, a device
// could do anything.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, notRegular(info)
	}
	file, err := openLock(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func notRegular(info os.FileInfo) error {
	what := "something else"
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return fmt.Errorf("it is %s; a lock is a regular file, or nothing yet", what)
}

// openOrMake opens the file at path for writing, and makes it if there is
// nothing at all. A symbolic link is followed to a file that is there, but never
// makes one somewhere else.
func openOrMake(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, lockFileMode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("it is a symbolic link to %q, which does not exist: make that file, or remove the link", target)
			}
		}
		// Somebody else has just made it.
	}
}
