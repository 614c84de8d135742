// Package process runs one attempt of a call as one real process: its exit
// code or signal, its two output streams apart and untouched, its standard
// input the same for every attempt, and nothing of it left running when the
// caller gives up.
//
// A child leads a process group of its own, which signals reach as a whole.
// Where this process has a controlling terminal the child stays in its group
// instead, so that the shell's job control treats the two as one; then only the
// child itself is asked to end, and on Linux all that it has started
// is killed with it. A Relay passes on the signals that reach this process, and
// BecomeSubreaper finds descendants that have left the group.
//
// On Windows there are no process groups and no SIGTERM: there a cancelled
// attempt's process is killed at once and its own children are left alone. One
// of these that holds the output keeps the attempt waiting, and a standard
// input that is a pipe serves one attempt only.
package process

import (
	"context"
	"io"
	"os"
	"time"

	"outlast/abi"
)

// Command is a command and where its input and output go. Its attempts run one
// after another, never at the same time.
type Command struct {
	Argv []string // the program, looked up on this process's PATH, and its arguments
	Env  []string // nil: this process's
	Dir  string   // the working directory; "": this process's

	Stdin *Stdin // shared by all attempts; nil: the null device

	// Inputs are what else the attempts can read; nil: only Stdin is seen to.
	Inputs *Inputs

	// Keep are files that the process inherits, as descriptors 3 and up or, where
	// these are in use, others: such as a lock that shall be held for as long as it
	// runs. Not on Windows.
	Keep []*os.File

	// Stdout and Stderr are where the call's output goes in the end; nil: nowhere.
	// An attempt's output is held until Ended.Commit, or passed on while the
	// attempt runs, once a stream has more than 64 KiB or has been held for 2 s.
	// Each is written to by a goroutine of its own.
	Stdout, Stderr io.Writer

	// OneLog says that Stdout and Stderr lead to one place, so that what is held of
	// both is written in the order in which it was read.
	OneLog bool

	// Interactive says that Stderr is shown to somebody who can answer on Stdin: an
	// unfinished line of stderr that has stood for 100 ms may be a question. It is
	// passed on, and so is from then on all of that attempt's stderr.
	Interactive bool

	// KillAfter is how long a process that was asked to end may take until it is
	// killed. 0: DefaultKillAfter, and a second for what a process that has ended
	// by itself left behind with its output.
	KillAfter time.Duration

	// Timeout ends an attempt that takes longer. 0: no limit.
	Timeout time.Duration

	// Relay passes on to the attempts the signals that this process gets. nil:
	// nobody does.
	Relay *Relay

	// Clock is now in microseconds on the host's clock, for the result's times.
	// nil: a monotonic clock that began with this process.
	Clock func() int64
}

// DefaultKillAfter is the time from SIGTERM to SIGKILL (a choice, and what
// container runtimes use).
const DefaultKillAfter = 10 * time.Second

// Attempt runs the command once and waits for its end.
//
// Its error is a *StartError when the command could not be started. A context
// that is cancelled ends the attempt, as Interrupt says; that is no error, the
// result tells what became of the process. A context that was cancelled before
// gives the context's error and runs nothing, and so does, with an Interrupt, a
// relay that was told to end. Only with an *UnendedError, when the process
// itself could not be ended, comes the attempt as well: its result has no exit,
// and its output so far can be shown.
func (c *Command) Attempt(ctx context.Context) (*Ended, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	clock := c.Clock
	if clock == nil {
		clock = sinceStart
	}
	if err := c.Relay.enter(); err != nil {
		return nil, err
	}
	defer c.Relay.leave()
	startedUS := clock()
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	c.Relay.attach(p)
	why := p.await(ctx, c.Timeout, c.killAfter())
	endedUS := clock()
	c.Relay.exited(p)
	p.settle(ctx, why, c)

	e := &Ended{stdout: p.stdout, stderr: p.stderr, Cancelled: why == cancelled, heard: c.Relay.heardBy(p)}
	e.Result = abi.Result{
		Stdout:    p.stdout.text(),
		Stderr:    p.stderr.text(),
		StartedUS: &startedUS,
		EndedUS:   &endedUS,
		TimedOut:  why == timedOut,
		Streamed:  p.stdout.streamed(),
	}
	e.broken = p.stdout.isBroken() || p.stderr.isBroken()
	e.HoldersEnded = p.holdersEnded
	e.CutOff = why == byItself && ctx.Err() == nil && (p.stdout.isCut() || p.stderr.isCut())
	if p.unended != nil {
		e.Unended = p.unended
		if !p.gone() {
			return e, p.unended
		}
	}
	e.Result.ExitCode, e.Result.Signal, err = p.end()
	if err != nil {
		e.Discard()
		return nil, err
	}
	return e, nil
}

func (c *Command) killAfter() time.Duration {
	if c.KillAfter <= 0 {
		return DefaultKillAfter
	}
	return c.KillAfter
}

// holderKillAfter is for what a process left behind with its output.
func (c *Command) holderKillAfter() time.Duration {
	if c.KillAfter <= 0 {
		return holderKill
	}
	return c.KillAfter
}

var processStart = time.Now()

func sinceStart() int64 { return time.Since(processStart).Microseconds() }
