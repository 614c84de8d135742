package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// openUnnamed makes a file that never had a name, or where the file system
// cannot do that, one that had it for a moment.
func openUnnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return openNamed(dir)
	}
	return os.NewFile(uintptr(fd), dir), nil
}
