package subprocess

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Interrupt is a context's cause that chooses the first signal an attempt gets
// when the context is cancelled, so that a signal which reached this process
// reaches the child's group as what it was. Any other cause means SIGTERM.
// After KillAfter comes SIGKILL.
type Interrupt struct {
	Signal syscall.Signal
}

func (i Interrupt) Error() string {
	return fmt.Sprintf("outlast: interrupted by a signal: %v", i.Signal)
}

func interruptOf(ctx context.Context) syscall.Signal {
	var i Interrupt
	if errors.As(context.Cause(ctx), &i) && i.Signal > 0 {
		return i.Signal
	}
	return syscall.SIGTERM
}

// stop ends the process and all of its group: a signal, and what is still
// there after killAfter is killed. It returns when they are gone.
func (p *process) stop(signal syscall.Signal, killAfter time.Duration) {
	deadline := time.NewTimer(killAfter)
	defer deadline.Stop()
	p.signal(signal)
	select {
	case <-p.exited:
	case <-deadline.C:
		deadline.Reset(0)
		p.signal(syscall.SIGKILL)
		<-p.exited
	}
	if p.group {
		p.sweep(deadline.C)
	}
}

// The rest of a group is polled, since only its parent can wait for a process
// (all are choices).
const (
	sweepEvery   = 5 * time.Millisecond // at first, then twice as long each time
	sweepSlowest = 80 * time.Millisecond
	sweepAfter   = time.Second // for killed processes to be gone
)

// sweep waits until what the process left behind in its group is gone, and
// kills it at the deadline. Between the end of the leader and the end of the
// group the kernel keeps the group's number from being used again.
func (p *process) sweep(deadline <-chan time.Time) {
	var killed <-chan time.Time
	for pause := sweepEvery; groupAlive(p.cmd.Process.Pid); pause = min(2*pause, sweepSlowest) {
		select {
		case <-time.After(pause):
		case <-deadline:
			p.signal(syscall.SIGKILL)
			deadline, killed, pause = nil, time.After(sweepAfter), sweepEvery
		case <-killed:
			return // asleep in the kernel; the kill takes effect when it wakes
		}
	}
}
