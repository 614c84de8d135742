package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is an attempt's process while it runs.
type process struct {
	command        string // as the caller has it
	cmd            *exec.Cmd
	group          bool  // it leads a process group of its own
	begun          int64 // in ticks after the system's start
	feed           *feed
	inputs         []*feed // of the other descriptors
	broken         *flag   // an input failed
	stdout, stderr *stream

	exited  chan struct{} // closed when it is gone; waitErr is set before
	waitErr error

	reading atomic.Int32  // how many of its streams are not done
	silent  chan struct{} // closed when both are

	heard   bool  // it got a signal that asked this process to end; the relay's
	overdue *flag // a relay's KillAfter is over
	hurried *flag // nobody waits for a slow reader any more

	groupTold atomic.Bool // its group was asked to end: many end at once when asked again
	unended   *UnendedError

	holdersEnded int // how many that it left behind with its output
}

func newProcess(cmd *exec.Cmd, group bool) *process {
	return &process{
		command: cmd.Args[0], cmd: cmd, group: group, begun: ticksNow(),
		exited: make(chan struct{}), silent: make(chan struct{}),
		overdue: newFlag(), hurried: newFlag(), broken: newFlag(),
	}
}

// run is called once the process is started.
func (p *process) run() {
	running.add(p.pid())
	p.reading.Store(2)
	go p.reap()
	go p.read(p.stdout)
	go p.read(p.stderr)
	for _, f := range append(p.inputs, p.feed) {
		f.start()
	}
}

// stopFeeds is called once the child is gone, or could not be started.
func (p *process) stopFeeds() {
	for _, f := range append(p.inputs, p.feed) {
		f.stop()
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) reap() {
	p.waitErr = p.cmd.Wait()
	running.remove(p.pid())
	close(p.exited)
}

func (p *process) read(s *stream) {
	s.read()
	if p.reading.Add(-1) == 0 {
		close(p.silent)
	}
}

func (p *process) gone() bool { return isClosed(p.exited) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// flag is raised once and for all, and can be waited for.
type flag struct {
	once   sync.Once
	raised chan struct{}
}

func newFlag() *flag { return &flag{raised: make(chan struct{})} }

func (f *flag) raise() { f.once.Do(func() { close(f.raised) }) }

// reason is why an attempt ended.
type reason int

const (
	byItself reason = iota
	timedOut
	cancelled
	killed      // a relay's KillAfter was over
	inputFailed // what it has of its standard input is not all
)

// await waits until the process is gone, and sees to it if the context, the
// time limit or the relay says so, or if its input fails: half a script must
// not be carried out as if it were whole.
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
	case <-p.overdue.raised:
		why, signal = killed, syscall.SIGKILL
	case <-p.broken.raised:
		why = inputFailed
	}
	if p.gone() { // first, if both came together
		return byItself
	}
	p.stop(signal, killAfter)
	return why
}

// end is the exit code or the signal's name.
func (p *process) end() (*int64, string, error) {
	var exit *exec.ExitError
	if p.waitErr != nil && !errors.As(p.waitErr, &exit) {
		return nil, "", fmt.Errorf("outlast: waiting for %q: %w", p.command, p.waitErr)
	}
	code, signal := howItEnded(p.cmd.ProcessState)
	return code, signal, nil
}
