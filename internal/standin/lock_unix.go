//go:build unix

package standin

import (
	"os"
	"syscall"
)

// isLocked says whether another process holds the lock on a file.
func isLocked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}
