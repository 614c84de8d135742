//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFile does not wait for a writer where the path is a named pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// checkOwner refuses what others can write, as ssh does with its own.
func checkOwner(path string, info fs.FileInfo) error {
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, and must belong to you or to root: chown it, or remove it", owner)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("can be written by others (mode %04o), who could change how your commands are run: chmod go-w %s", mode, path)
	}
	return nil
}
