package process

import (
	"testing"

	"golang.org/x/sys/unix"
)

// fullDisk is a file system of its own with little room.
func fullDisk(t *testing.T) (why string) {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=100k"); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	t.Setenv("TMPDIR", dir)
	return "no space left on device"
}
