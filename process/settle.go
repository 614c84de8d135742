package process

import (
	"context"
	"syscall"
	"time"
)

// How long the output is read on after the process's end while another process,
// which it left behind, holds the pipe (all are choices): as long as that goes
// on printing, since it may well be a part of the command, as in
// `(work; echo done) &`; but none keeps the caller for ever.
const (
	holderPause = time.Second      // without a byte
	holderLimit = 10 * time.Second // in all
	holderKill  = time.Second      // from SIGTERM to SIGKILL, unless the command has a KillAfter
)

// leftoverWait is all the time that a process gets if a signal has ended the one
// that left it behind. It is also how long a reader that does not read may hold up
// an attempt that was ended (a choice). It bounds no other writing of output.
const leftoverWait = 250 * time.Millisecond

// settle waits for the output after the process is gone. All that the process
// itself wrote is read, however slow the reader of this process's output is. What a
// process that succeeded left behind may go on, and CarryOn reads it. What a failed
// one left behind is read as hearOut says and then, if it can be found, ended as an
// attempt is, since the next attempt would start another. If it cannot be found,
// the pipe is closed.
func (p *process) settle(ctx context.Context, why reason, c *Command) {
	p.stopFeeds()
	c.Inputs.after()
	alone := why == byItself && !isClosed(p.hurried.raised)
	daemons := alone && p.succeeded() && canCarry
	if alone && !daemons {
		p.hearOut(ctx, holderPause, holderLimit)
	} else {
		p.hearOut(ctx, leftoverWait, leftoverWait)
	}
	if isClosed(p.silent) {
		return
	}
	switch {
	case daemons:
		p.stdout.expectHolders()
		p.stderr.expectHolders()
	case ctx.Err() == nil:
		p.endHolders(ctx, c.holderKillAfter())
	}
	p.stdout.expectEnd()
	p.stderr.expectEnd()
	select {
	case <-p.silent:
		return
	case <-p.hurried.raised:
	case <-ctx.Done():
		if why != cancelled && !isClosed(p.hurried.raised) { // not by the relay
			p.stop(interruptOf(ctx), c.killAfter())
		}
	}
	select {
	case <-p.silent:
	case <-time.After(2 * leftoverWait):
		p.stdout.abandon()
		p.stderr.abandon()
	}
}

// succeeded says whether the process, which is gone, ended with exit code 0.
func (p *process) succeeded() bool {
	code, _, err := p.end()
	return err == nil && code != nil && *code == 0
}

// hearOut waits until nobody holds the output any more, or nothing was printed
// for the pause, or the limit is over.
func (p *process) hearOut(ctx context.Context, pause, limit time.Duration) {
	over := time.NewTimer(limit)
	defer over.Stop()
	for quiet := time.Duration(0); quiet < pause; quiet = min(p.stdout.quiet(), p.stderr.quiet()) {
		select {
		case <-p.silent:
			return
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-time.After(pause - quiet):
		}
	}
}

// endHolders ends the descendants that hold the output's pipes, and reads what
// they say to that. It leaves alone all others.
func (p *process) endHolders(ctx context.Context, killAfter time.Duration) {
	deadline := time.NewTimer(killAfter)
	defer deadline.Stop()
	told := p.clear(p.holders, syscall.SIGTERM, deadline.C, ctx.Done(), p.silent)
	for pid := range told {
		if !refuses(pid) {
			p.holdersEnded++
		}
	}
}
