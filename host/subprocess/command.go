// Package subprocess runs one attempt of a call as one real process: its exit
// code or signal, its two output streams apart and untouched, its standard
// input the same for every attempt, and nothing of it left running when the
// caller gives up.
//
// On Windows there are no process groups and no SIGTERM: there a cancelled
// attempt's process is killed at once and its own children are left alone. One
// of these that holds the output keeps the attempt waiting, and a standard
// input that is a pipe serves one attempt only.
package subprocess

import (
	"context"
	"io"
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

	// Stdout and Stderr are where the call's output goes in the end; nil: nowhere.
	// An attempt's output is held until Ended.Commit, or passed on while the
	// attempt runs, once a stream has more than 64 KiB or has been held for 2 s.
	// Each is written to by a goroutine of its own.
	Stdout, Stderr io.Writer

	// KillAfter is how long a process that was asked to end may take until it is
	// killed. 0: DefaultKillAfter.
	KillAfter time.Duration

	// Timeout ends an attempt that takes longer. 0: no limit.
	Timeout time.Duration

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
// that is cancelled ends the attempt, as Interrupt says; that
// is no error, the result tells what became of the process. A context that was
// cancelled before gives the context's error and runs nothing.
func (c *Command) Attempt(ctx context.Context) (*Ended, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	clock := c.Clock
	if clock == nil {
		clock = sinceStart
	}
	startedUS := clock()
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	why := p.await(ctx, c.Timeout, c.killAfter())
	endedUS := clock()
	p.settle(ctx, why, c.killAfter())

	e := &Ended{stdout: p.stdout, stderr: p.stderr, Cancelled: why == cancelled}
	e.Result = abi.Result{
		Stdout:    p.stdout.text(),
		Stderr:    p.stderr.text(),
		StartedUS: &startedUS,
		EndedUS:   &endedUS,
		TimedOut:  why == timedOut,
		Streamed:  p.stdout.streamed(),
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

var processStart = time.Now()

func sinceStart() int64 { return time.Since(processStart).Microseconds() }
