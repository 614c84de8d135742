package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"outlast/abi"
	"outlast/cmd/outlast/internal/metrics"
	"outlast/cmd/outlast/internal/record"
	"outlast/host"
	"outlast/plugin"
	"outlast/process"
)

// openRecords opens what is kept of the call. The digest of a plugin file is
// not told: it is not what this tool comes with.
func (w *wrapped) openRecords() (err error) {
	v := w.verb
	declared := w.call
	declared.Read = !w.writes()
	w.recorder, err = record.Open(record.Options{
		Events: v.Events, Report: v.Report, Call: declared, Policy: w.policy,
		PluginDigest: choose(v.Plugin == "", "sha256:"+strings.TrimSpace(plugin.SHA256), ""), Command: label(w.argv[0]),
		Progress: &w.progress, Tell: w.printer.Notice,
	})
	if err == nil {
		w.counter, err = metrics.Open(metrics.Options{
			Path: v.MetricsFile, Policy: w.policy.Name(), Command: w.argv[0], Progress: &w.progress, Tell: w.printer.Notice,
		})
	}
	if err != nil {
		return usageError("%v", err)
	}
	return nil
}

// once makes the one attempt of a call within another outlast's, which decides
// what is run again.
func (w *wrapped) once(ctx context.Context) ending {
	result, err := w.attempt(ctx, 1)
	if err != nil {
		return ending{err: err}
	}
	now := host.SystemClock().Now()
	w.observe(host.AttemptEnded{Attempt: 1, At: now, OK: result.OK(), Result: result})
	o := &abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone, Attempts: 1, ElapsedUS: (now - w.call.Started).Microseconds()}
	if !result.OK() {
		o.Type, o.Kind = abi.OutcomeFailed, kindInside
		if w.writes() {
			o.Type, o.Effects = abi.OutcomeIndeterminate, abi.EffectsUnknown
		}
	}
	w.observe(host.Stopped{Outcome: *o, At: now})
	return ending{outcome: o}
}

// kindInside is the kind of a failure within another outlast, which no policy
// looked at here.
const kindInside = "failed"

// end shows the last attempt's output and gives the exit code, whatever the
// policy and the plugin made of it. An error is one of our own.
func (w *wrapped) end(e ending) (code int, err error) {
	if w.verb.JournalKey != "" {
		w.finishJournal(e) // a kill from here on finds what is not shown yet in the record
	}
	e.outcome = w.explainSpent(e.outcome)
	if w.last == nil {
		code, err = w.neverRun(e.err)
	} else {
		code, err = w.show(e)
	}
	w.finishJournal(e)
	w.finishRecords(record.End{Outcome: e.outcome, Err: e.err, ExitCode: code})
	return code, err
}

func (w *wrapped) finishRecords(end record.End) {
	w.progress.Finish(host.SystemClock().Now())
	w.counter.Finish(end.Outcome)
	w.recorder.Finish(end)
}

// neverRun is the end of a call without an attempt.
func (w *wrapped) neverRun(err error) (int, error) {
	var start *process.StartError
	switch {
	case errors.As(err, &start):
		return start.ExitCode, start
	case w.relay.Signal() != 0:
		return 128 + int(w.relay.Signal()), errors.New("interrupted; the command was not run")
	}
	return exitUnusable, err
}

// exitTimedOut is GNU timeout's exit code for a command that it ended, used here
// for one that then says it succeeded.
const exitTimedOut = 124

// exitUnended is GNU timeout's for a timeout that itself failed: the command
// could not be ended.
const exitUnended = 125

func (w *wrapped) show(e ending) (code int, err error) {
	shown := w.last.Commit()
	if left := w.last.CarryOn(os.Stdout, os.Stderr); left != nil {
		w.printer.Notice("what the command left behind can print nothing from now on: %v", left)
	}
	readerGone := errors.Is(shown, syscall.EPIPE)
	if !readerGone { // in a pipeline that is an ordinary end
		w.printer.Finish(e.outcome)
		if why := w.unproven(e.outcome); why != "" {
			w.printer.Notice("%s", why)
		}
	}
	var unended *process.UnendedError
	switch {
	case errors.As(e.err, &unended):
		return w.chosen(exitUnended, e), e.err
	case e.err != nil:
		w.printer.Error(e.err)
	}
	code = w.relay.ExitCode(w.last)
	switch {
	case code == 0 && readerGone:
		code = 128 + int(syscall.SIGPIPE) // as in any pipeline
	case code == 0 && shown != nil:
		code = 1
	case code == 0 && w.last.Result.TimedOut:
		code = exitTimedOut // it may call that a success, but it was cut off
	}
	code = w.chosen(code, e)
	if readerGone {
		return code, nil
	}
	return code, shown // which nobody has been told yet
}

// chosen is the exit code that the caller wants instead of one that is not 0.
func (w *wrapped) chosen(code int, e ending) int {
	v := w.verb
	switch {
	case code == 0:
	case v.IndeterminateCode != nil && w.isInDoubt(e):
		return *v.IndeterminateCode
	case v.ExhaustedCode != nil && e.outcome != nil && e.outcome.Type == abi.OutcomeExhausted:
		return *v.ExhaustedCode
	}
	return code
}

// isInDoubt says whether whoever runs a write that did not exit with 0 should
// look before running it again. One that succeeded and whose output could not be
// written was applied. A cancelled one was given up by the caller, who knows.
func (w *wrapped) isInDoubt(e ending) bool {
	if !w.writes() {
		return false
	}
	if e.outcome == nil {
		return w.last != nil // nobody has judged what became of its attempt
	}
	return e.outcome.Type == abi.OutcomeIndeterminate || e.outcome.Type == abi.OutcomeOK
}

// coded is the error of a call that ends with an exit code.
func coded(code int, err error) error {
	if code == 0 && err == nil {
		return nil
	}
	return &exitError{code, err}
}

// started is the error of a command that took our place, or could not.
func started(err error) error {
	var start *process.StartError
	if errors.As(err, &start) {
		return &exitError{start.ExitCode, start}
	}
	return err
}
