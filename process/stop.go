package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Interrupt is a context's cause that chooses the first signal an attempt gets
// when the context is cancelled. Any other cause means SIGTERM. After KillAfter
// comes SIGKILL. It is also the cause with which a Relay cancels its context.
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

// UnendedError says which processes of an attempt were to be ended and still
// run, because they are another user's and the system does not let this process
// signal them.
type UnendedError struct {
	Command string
	Pids    []int
}

func (e *UnendedError) Error() string {
	return fmt.Sprintf("outlast: %q was to be ended and may still run: processes %v are another user's", e.Command, e.Pids)
}

// stop ends the process and all that it has started: a signal, and what is
// still there after killAfter is killed. It returns when they are gone, or when
// only those are left that may not be signalled.
func (p *process) stop(signal syscall.Signal, killAfter time.Duration) {
	deadline := time.NewTimer(killAfter)
	defer deadline.Stop()
	_ = p.signal(signal) // whether it is refused counts only in the end
	p.groupTold.Store(true)
	if signal != syscall.SIGKILL {
		p.resume()
		select {
		case <-p.exited:
		case <-deadline.C:
			signal = syscall.SIGKILL
		}
	}
	if signal == syscall.SIGKILL {
		p.killAll()
		deadline.Reset(0)
	}
	p.clear(p.rest, signal, deadline.C, nil, nil)
}

// killAll kills the process and what it has started, while it can be told by
// its ancestors, and waits for the process.
func (p *process) killAll() {
	started := p.rest()
	_ = p.signal(syscall.SIGKILL)
	for _, pid := range started {
		_ = kill(pid, syscall.SIGKILL)
	}
	if !refuses(p.pid()) {
		<-p.exited
		return
	}
	select {
	case <-p.exited:
	case <-time.After(sweepAfter):
		p.refused(p.pid())
	}
}

// The rest of a process's descendants is polled, since only its parent can wait
// for a process (all are choices).
const (
	sweepEvery   = 5 * time.Millisecond // at first, then twice as long each time
	sweepSlowest = 80 * time.Millisecond
	sweepAfter   = time.Second // for killed processes to be gone
)

// clear waits until nothing is left of what find finds. Each that it finds and
// that has not had it is sent the signal, and killed after the deadline. It
// gives up when hurry or over is closed. It says which it has found.
func (p *process) clear(find func() []int, signal syscall.Signal, deadline <-chan time.Time, hurry, over <-chan struct{}) map[int]bool {
	told := map[int]bool{}
	var giveUp <-chan time.Time
	for pause := sweepEvery; ; pause = min(2*pause, sweepSlowest) {
		left := find()
		if len(left) == 0 {
			return told
		}
		for _, pid := range left {
			if giveUp != nil || !told[pid] && !(p.groupTold.Load() && p.inGroup(pid)) {
				_ = kill(pid, signal)
			}
			told[pid] = true
		}
		select {
		case <-time.After(pause):
		case <-deadline:
			deadline, giveUp, signal = nil, time.After(sweepAfter), syscall.SIGKILL
			pause = sweepEvery
		case <-giveUp: // asleep in the kernel, where the kill takes effect when they wake; or another user's
			p.refused(left...)
			return told
		case <-hurry:
			return told
		case <-over:
			return told
		}
	}
}

// refused remembers those that run and may not be signalled.
func (p *process) refused(pids ...int) {
	for _, pid := range pids {
		if !refuses(pid) {
			continue
		}
		if p.unended == nil {
			p.unended = &UnendedError{Command: p.command}
		}
		p.unended.Pids = append(p.unended.Pids, pid)
	}
}
