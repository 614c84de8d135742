package wrap

import (
	"errors"
	"os"
	"syscall"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/record"
	"outlast/host"
	"outlast/journal"
	"outlast/process"
)

// NotRunError says why the command was not run. It is told under a link, too.
type NotRunError struct{ error }

func (e NotRunError) Unwrap() error { return e.error }

// kindInDoubt is the kind of a write that the journal does not let run.
const kindInDoubt = "in_doubt"

// refuse ends a call that the journal does not let run.
func (r *Run) refuse(err error) error {
	code, o := exit.CodeUnusable, (*abi.Outcome)(nil)
	var doubt *journal.InDoubtError
	var other *journal.OtherError
	switch {
	case errors.As(err, &doubt):
		o = &abi.Outcome{
			Type: abi.OutcomeIndeterminate, Kind: kindInDoubt, Effects: abi.EffectsUnknown,
			Message: "an earlier run of this write may have been applied; it was not run again",
		}
		if n := r.plan.Flags.IndeterminateCode; n != nil {
			code = *n
		}
	case errors.As(err, &other):
		code = exit.CodeUsage
	default:
		code, err = r.neverRun(err)
	}
	end := record.End{Outcome: o, ExitCode: code}
	if o == nil {
		end.Err = err
	}
	r.tell.finish(end)
	return &exit.Error{Code: code, Err: NotRunError{err}}
}

// neverRun is the end of a call without an attempt.
func (r *Run) neverRun(err error) (int, error) {
	var start *process.StartError
	switch {
	case errors.As(err, &start):
		return start.ExitCode, start
	case r.relay.Signal() != 0:
		return 128 + int(r.relay.Signal()), errors.New("interrupted; the command was not run")
	}
	return exit.CodeUnusable, err
}

// answer shows what a run printed that has applied the write already.
func (r *Run) answer(e *journal.Entry) error {
	r.tell.Notice("not run again: applied at %s (%s)", e.Ended.Format(time.RFC3339), journal.Command(r.plan.Journal.Dir, "show", e.ID))
	switch {
	case e.Cut:
		r.tell.Notice("the journal has only the beginning of its output")
	case e.By != "":
		r.tell.Notice("the journal has no output of it: %s has settled it", e.By)
	}
	code, failed := r.printAnswer(e)
	o := &abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone, ElapsedUS: (host.SystemClock().Now() - r.plan.Call.Started).Microseconds()}
	code = r.plan.codeFor(code, o, false)
	r.tell.finish(record.End{Outcome: o, ExitCode: code})
	return codeError(code, failed)
}

// printAnswer prints what the earlier run printed, and gives its exit code.
func (r *Run) printAnswer(e *journal.Entry) (code int, failed error) {
	if e.ExitCode != nil && e.By == "" { // else it is that of a run whose answer was lost
		code = int(*e.ExitCode)
	}
	_, outErr := r.tell.Writer(os.Stdout).Write(e.Stdout)
	_, errErr := r.tell.Writer(os.Stderr).Write(e.Stderr)
	switch failed = errors.Join(outErr, errErr); {
	case errors.Is(failed, syscall.EPIPE):
		return 128 + int(syscall.SIGPIPE), nil
	case failed != nil:
		code = 1
	}
	return code, failed
}
