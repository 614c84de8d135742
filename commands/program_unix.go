//go:build unix

package commands

import (
	"os"
	"syscall"
)

// onlyRootWrites says whether a file is root's and nobody else may write it.
func onlyRootWrites(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && info.Mode().Perm()&0o022 == 0
}
