//go:build unix && !linux

package subprocess

import "syscall"

// groupAlive says whether the group has a process that can be signalled. Where
// only dead ones are left, the BSDs and macOS answer EPERM.
func groupAlive(pgid int) bool {
	return syscall.Kill(-pgid, 0) == nil
}
