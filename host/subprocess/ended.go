package subprocess

import (
	"errors"

	"outlast/abi"
)

// Ended is an attempt that is over.
type Ended struct {
	Result    abi.Result
	Cancelled bool // the attempt's context ended it

	stdout, stderr *stream
}

// Commit writes what is still held of the attempt's output to the command's
// Stdout and Stderr: for the attempt whose output the user shall see. It
// reports what could not be written, now or while the attempt was streaming,
// such as EPIPE when the reader is gone.
func (e *Ended) Commit() error {
	return errors.Join(e.stdout.commit(), e.stderr.commit())
}

// Discard forgets what is held of the output of an attempt that failed.
func (e *Ended) Discard() {
	e.stdout.discard()
	e.stderr.discard()
}
