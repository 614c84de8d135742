//go:build unix && !linux

package process

import "syscall"

// rest is what still runs of the attempt's group, as one number that kill(2)
// takes for all of it. Where only dead ones are left, the BSDs and macOS answer
// EPERM.
func (p *process) rest() []int {
	if p.group && syscall.Kill(-p.pid(), 0) == nil {
		return []int{-p.pid()}
	}
	return nil
}
