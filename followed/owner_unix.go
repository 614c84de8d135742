//go:build unix

package followed

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFile neither follows a link nor waits for a writer of a named pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

// checkOwner refuses what others could change.
func checkOwner(path string, info fs.FileInfo) error {
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, and must belong to you or to root", path, owner)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s can be written by others (mode %04o), who could change what is repeated: chmod go-w %[1]s", path, mode)
	}
	return nil
}
