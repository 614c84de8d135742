package wrap

import (
	"errors"
	"os"
	"syscall"

	"outlast/abi"
	"outlast/cmd/outlast/internal/record"
	"outlast/process"
)

// end shows the last attempt's output and gives the exit code, whatever the
// policy and the plugin made of it. An error is one of outlast's own.
func (r *Run) end(e ending) (code int, err error) {
	last := r.attempts.last
	if r.plan.Flags.JournalKey != "" {
		r.journal.finish(e.outcome, last) // a kill from here on finds what is not shown yet in the record
	}
	e.outcome = r.attempts.explainSpent(e.outcome)
	if last == nil {
		code, err = r.neverRun(e.err)
	} else {
		code, err = r.show(e, last)
	}
	r.journal.finish(e.outcome, last)
	r.tell.finish(record.End{Outcome: e.outcome, Err: e.err, ExitCode: code})
	return code, err
}

func (r *Run) show(e ending, last *process.Ended) (code int, err error) {
	shown := r.relay.Commit(last)
	if left := last.CarryOn(os.Stdout, os.Stderr); left != nil {
		r.tell.Notice("what the command left behind can print nothing from now on: %v", left)
	}
	readerGone := errors.Is(shown, syscall.EPIPE)
	if !readerGone { // in a pipeline that is an ordinary end
		r.tell.Finish(e.outcome)
		if why := r.plan.unproven(e.outcome); why != "" {
			r.tell.Notice("%s", why)
		}
	}
	var unended *process.UnendedError
	if errors.As(e.err, &unended) {
		return r.plan.codeFor(exitUnended, e.outcome, true), e.err
	}
	if e.err != nil {
		r.tell.Error(e.err)
	}
	code = codeShown(r.relay.ExitCode(last), shown, last.Result.TimedOut)
	code = r.plan.codeFor(code, e.outcome, true)
	if readerGone {
		return code, nil
	}
	return code, shown // which nobody has been told yet
}

// exitTimedOut is GNU timeout's exit code for a command that it ended, used here
// for one that then says it succeeded.
const exitTimedOut = 124

// exitUnended is GNU timeout's for a timeout that itself failed: the command
// could not be ended.
const exitUnended = 125

// codeShown is the exit code of an attempt that ended with another, after its
// output was shown, or not.
func codeShown(code int, shown error, timedOut bool) int {
	switch {
	case code != 0:
		return code
	case errors.Is(shown, syscall.EPIPE):
		return 128 + int(syscall.SIGPIPE) // as in any pipeline
	case shown != nil:
		return 1
	case timedOut:
		return exitTimedOut // it may call that a success, but it was cut off
	}
	return 0
}

// codeFor is the exit code that the caller wants instead of one that is not 0.
// attempted says whether an attempt was made.
func (p *Plan) codeFor(code int, o *abi.Outcome, attempted bool) int {
	f := &p.Flags
	switch {
	case code == 0:
	case f.IndeterminateCode != nil && p.isInDoubt(o, attempted):
		return *f.IndeterminateCode
	case f.ExhaustedCode != nil && o != nil && o.Type == abi.OutcomeExhausted:
		return *f.ExhaustedCode
	}
	return code
}

// isInDoubt says whether whoever runs a write that did not exit with 0 should
// look before running it again. One that succeeded and whose output could not be
// written was applied. A cancelled one was given up by the caller, who knows.
func (p *Plan) isInDoubt(o *abi.Outcome, attempted bool) bool {
	if !p.writes() {
		return false
	}
	if o == nil {
		return attempted // nobody has judged what became of its attempt
	}
	return o.Type == abi.OutcomeIndeterminate || o.Type == abi.OutcomeOK
}
