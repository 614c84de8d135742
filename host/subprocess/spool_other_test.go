//go:build unix && !linux

package subprocess

import "testing"

func fullDisk(t *testing.T) string {
	t.Skip("a file system is mounted for this on Linux only")
	return ""
}
