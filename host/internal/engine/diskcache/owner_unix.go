//go:build unix

package diskcache

import (
	"io/fs"
	"os"
	"syscall"
)

func supported() error { return nil }

// self is the user that this process acts as.
func self() int { return os.Geteuid() }

// owner is the user that a file belongs to; -1 if that is not known.
func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
