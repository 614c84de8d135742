package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// process is an attempt's process while it runs.
type process struct {
	cmd            *exec.Cmd
	group          bool // it leads a process group of its own
	feed           *feed
	stdout, stderr *stream

	exited  chan struct{} // closed when it is gone; waitErr is set before
	waitErr error
}

// reason is why an attempt ended.
type reason int

const (
	byItself reason = iota
	timedOut
	cancelled
)

func (p *process) reap() {
	p.waitErr = p.cmd.Wait()
	close(p.exited)
}

// await waits until the process is gone, and sees to it if the context or the
// time limit says so.
func (p *process) await(ctx context.Context, limit, killAfter time.Duration) reason {
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	why, signal := byItself, syscall.SIGTERM
	select {
	case <-p.exited:
	case <-ctx.Done():
		why, signal = cancelled, interruptOf(ctx)
	case <-timeout:
		why = timedOut
	}
	select {
	case <-p.exited: // first, if both came together
		return byItself
	default:
	}
	p.stop(signal, killAfter)
	return why
}

// leftoverWait bounds how long the output of a process that is gone is read
// on when another process, which it left behind, still holds the pipe; and how
// long a reader that does not read may keep back an attempt that was ended (a
// choice). It never bounds how long our own writing takes otherwise.
const leftoverWait = 250 * time.Millisecond

// settle waits for the output after the process is gone. All that the process
// itself wrote is read, however slow the reader of our output is; what a
// process that it left behind writes is read for leftoverWait.
func (p *process) settle(ctx context.Context, why reason, killAfter time.Duration) {
	p.feed.stop()
	p.stdout.expectEnd()
	p.stderr.expectEnd()
	if waitFor(ctx, p.stdout.done) && waitFor(ctx, p.stderr.done) {
		return
	}
	if why != cancelled {
		p.stop(interruptOf(ctx), killAfter)
	}
	patience, stop := context.WithTimeout(context.Background(), 2*leftoverWait)
	defer stop()
	for _, s := range []*stream{p.stdout, p.stderr} {
		if !waitFor(patience, s.done) {
			s.abandon()
		}
	}
}

// waitFor says whether done came before the context's end, or with it.
func waitFor(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// end is the exit code or the signal's name.
func (p *process) end() (*int64, string, error) {
	var exit *exec.ExitError
	if p.waitErr != nil && !errors.As(p.waitErr, &exit) {
		return nil, "", fmt.Errorf("outlast: waiting for %q: %w", p.cmd.Args[0], p.waitErr)
	}
	code, signal := howItEnded(p.cmd.ProcessState)
	return code, signal, nil
}
