package subprocess

import (
	"errors"

	"outlast/abi"
)

// Ended is an attempt that is over.
type Ended struct {
	Result    abi.Result
	Cancelled bool // the attempt's context ended it

	// Unended is an *UnendedError if something that the attempt started was to be
	// ended and still runs.
	Unended error

	heard          bool // the relay's signal that asked us to end
	stdout, stderr *stream
}

// Commit writes what is still held of the attempt's output to the command's
// Stdout and Stderr: for the attempt whose output the user shall see. It
// reports what could not be written, now or while the attempt was streaming,
// such as EPIPE when the reader is gone.
func (e *Ended) Commit() error {
	return errors.Join(e.stdout.commit(), e.stderr.commit())
}

// ShowStderr writes what is still held of a failed attempt's stderr to the
// command's Stderr: for a user who wants to see every failure. Its stdout can
// still be committed or discarded. It reports what could not be written.
func (e *Ended) ShowStderr() error { return e.stderr.commit() }

// Discard forgets what is held of the output of an attempt that failed.
func (e *Ended) Discard() {
	e.stdout.discard()
	e.stderr.discard()
}
