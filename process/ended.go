package process

import (
	"errors"
	"syscall"

	"outlast/abi"
)

// Ended is an attempt that is over.
type Ended struct {
	Result    abi.Result
	Cancelled bool // the attempt's context ended it

	// Unended says what the attempt started, was to be ended and still runs; nil: nothing.
	Unended *UnendedError

	// HoldersEnded is how many processes were ended that the attempt's own one had
	// left behind with its output, because they printed nothing for a second, or
	// went on for 10 s. Linux only.
	HoldersEnded int

	// CutOff says that such a process could not be found or ended: what it prints
	// from now on is lost.
	CutOff bool

	heard          bool // a signal that asked this process to end reached the attempt, by the relay
	broken         bool // its output could not be written while it ran, and not because a reader is gone
	stdout, stderr *stream
}

// Commit writes what is still held of the attempt's output to the command's
// Stdout and Stderr: for the attempt whose output the user shall see. It
// reports what could not be written, now or while the attempt was streaming,
// such as EPIPE when the reader is gone.
func (e *Ended) Commit() error {
	e.stdout.order.commit()
	return errors.Join(e.stdout.commit(), e.stderr.commit())
}

// TakeStderr gives what is still held of a failed attempt's stderr, which is not
// committed then: for a user who wants to see every failure. Its stdout can still
// be committed or discarded.
func (e *Ended) TakeStderr() []byte { return e.stderr.takeHeld() }

// endedByUs says that SIGPIPE has ended the attempt because its pipe was closed
// here, after its output could not be written.
func (e *Ended) endedByUs() bool {
	return e.broken && (e.Result.Signal == "SIGPIPE" || e.Result.ExitCode != nil && *e.Result.ExitCode == exitPipe)
}

// exitPipe is how a shell exits whose last command was ended by SIGPIPE.
const exitPipe = 128 + int64(syscall.SIGPIPE)

// Discard forgets what is held of the output of an attempt that failed, and cuts
// off who still holds it.
func (e *Ended) Discard() {
	for _, s := range []*stream{e.stdout, e.stderr} {
		if left := s.takeLeft(); left != nil {
			left.Close()
		}
	}
	e.stdout.discard()
	e.stderr.discard()
}
