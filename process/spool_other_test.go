//go:build unix && !linux

package process

import "testing"

func fullDisk(t *testing.T) string {
	t.Skip("a file system is mounted for this on Linux only")
	return ""
}
