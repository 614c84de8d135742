package subprocess

import (
	"context"
	"syscall"
	"time"
)

// leftoverWait bounds how long the output of a process that is gone is read
// on when another process, which it left behind, still holds the pipe; and how
// long a reader that does not read may keep back an attempt that was ended (a
// choice). It never bounds how long our own writing takes otherwise.
const leftoverWait = 250 * time.Millisecond

// settle waits for the output after the process is gone. All that the process
// itself wrote is read, however slow the reader of our output is. What it left
// behind is read for leftoverWait and then, if we can find it, ended as an
// attempt is; where we cannot, the pipe is closed.
func (p *process) settle(ctx context.Context, why reason, killAfter time.Duration) {
	p.feed.stop()
	grace := time.NewTimer(leftoverWait)
	defer grace.Stop()
	select {
	case <-p.silent:
		return
	case <-ctx.Done():
	case <-grace.C:
		p.endHolders(ctx, killAfter)
	}
	p.stdout.expectEnd()
	p.stderr.expectEnd()
	select {
	case <-p.silent:
		return
	case <-p.hurried.raised:
	case <-ctx.Done():
		if why != cancelled && !isClosed(p.hurried.raised) { // not by the relay
			p.stop(interruptOf(ctx), killAfter)
		}
	}
	select {
	case <-p.silent:
	case <-time.After(2 * leftoverWait):
		p.stdout.abandon()
		p.stderr.abandon()
	}
}

// endHolders ends the descendants that hold the output's pipes, and reads what
// they say to that. It leaves alone all others.
func (p *process) endHolders(ctx context.Context, killAfter time.Duration) {
	deadline := time.NewTimer(killAfter)
	defer deadline.Stop()
	p.clear(p.holders, syscall.SIGTERM, deadline.C, ctx.Done(), p.silent)
}
