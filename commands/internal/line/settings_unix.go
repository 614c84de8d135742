//go:build unix

package line

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayRead says whether a path may be read: it is not if there is nothing, or if
// it, or a directory before it, is closed to this process.
func mayRead(path string) bool {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS)
	switch err {
	case nil:
		return true
	case unix.ENOENT, unix.ENOTDIR, unix.EACCES, unix.ELOOP, unix.ENAMETOOLONG:
		return false
	}
	_, err2 := os.Stat(path) // this system knows no AT_EACCESS
	return !os.IsNotExist(err2) && !os.IsPermission(err2)
}
