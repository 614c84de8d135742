package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/inputs"
	"outlast/cmd/outlast/internal/record"
	"outlast/host"
	"outlast/journal"
	"outlast/journal/task"
	"outlast/process"
)

type journalFlags struct {
	Journal    string `placeholder:"DIR" help:"Remember there which writes are under way."`
	JournalKey string `placeholder:"KEY" help:"Of this write, which is then made once."`
}

// heldVar tells the command which records the outlasts around it hold.
const heldVar = "OUTLAST_JOURNAL_HELD"

// refusedError says why the command was not run. It is told under a link, too.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// check finds what is wrong with the flags.
func (f *journalFlags) check() error {
	if f.JournalKey == "" {
		return nil
	}
	if f.Journal == "" {
		return usageError("--journal-key: expected --journal DIR beside it, where the key's record is")
	}
	if _, err := journal.Given(f.JournalKey); err != nil {
		return usageError("--journal-key: %v", strings.TrimPrefix(err.Error(), "outlast: "))
	}
	return nil
}

// hasOwnKey says that the call has a key that no outlast around it holds: then
// it is a write of its own, also inside another outlast's.
func (f *journalFlags) hasOwnKey() bool {
	key, err := journal.Given(f.JournalKey)
	return err == nil && f.Journal != "" && !slices.Contains(strings.Split(os.Getenv(heldVar), ","), key.ID())
}

// isPassed says that another outlast, around this one, decides what is run
// again, and keeps the journal.
func (w *wrapped) isPassed() bool { return isInside() && !w.verb.hasOwnKey() }

// begin puts a write into the journal. An answer is that of an earlier run.
func (w *wrapped) begin(ctx context.Context) (answer *journal.Entry, err error) {
	v := w.verb
	if v.Journal == "" || !w.writes() || w.isPassed() {
		return nil, nil
	}
	j, err := journal.Open(v.Journal, journal.Options{Secrets: w.secrets()})
	if err != nil {
		return nil, err
	}
	key, what, err := w.journalled()
	if err != nil {
		return nil, err
	}
	if w.call.Budget > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, w.call.Budget, errLockBudget)
		defer cancel()
	}
	told := func() {}
	what.Waiting = func() {
		told = w.printer.Status("waiting for another run of this write, which has the journal's record %s", key.ID())
	}
	w.journal, answer, err = j.Begin(ctx, key, what)
	told()
	if errors.Is(err, errLockBudget) {
		err = fmt.Errorf("the call's budget of %v ended while another run of this write was under way; the command was not run", w.call.Budget)
	}
	if w.journal != nil {
		held := slices.DeleteFunc(strings.Split(os.Getenv(heldVar), ","), func(id string) bool { return id == "" })
		w.env = append(w.env[:len(w.env):len(w.env)], heldVar+"="+strings.Join(append(held, key.ID()), ","))
	}
	return answer, err
}

// journalled is the write's key and what its record says.
func (w *wrapped) journalled() (key journal.Key, what journal.What, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return key, what, fmt.Errorf("the journal: finding the working directory: %w", err)
	}
	what = journal.What{Argv: w.argv, Dir: dir, Target: w.journalTarget(), Repeatable: w.repeatable, IdempotencyKey: w.idempotencyKey}
	if honoured := value(w.verb.IdempotencyHonoured); honoured > 0 {
		what.Honoured = honoured - w.call.Budget // the last attempt of this call must still meet the key
	}
	if w.verb.JournalKey != "" {
		key, err = journal.Given(w.verb.JournalKey)
		return key, what, err
	}
	read, err := inputs.Digests(w.argv, os.Stdin, w.verb.Stdin != string(process.None))
	if err != nil {
		return key, what, fmt.Errorf("the journal: %w", err)
	}
	return journal.Made(w.argv, dir, what.Target, read...), what, nil
}

// journalTarget is what the command goes to, as far as it is known.
func (w *wrapped) journalTarget() string {
	switch {
	case w.watch.target != "":
		return w.watch.target
	case w.graph != nil:
		return w.graph.Store
	}
	return ""
}

// refuse ends a call that the journal does not let run.
func (w *wrapped) refuse(err error) error {
	code, o := exitUnusable, (*abi.Outcome)(nil)
	var doubt *journal.InDoubtError
	var other *journal.OtherError
	switch {
	case errors.As(err, &doubt):
		o = &abi.Outcome{
			Type: abi.OutcomeIndeterminate, Kind: kindInDoubt, Effects: abi.EffectsUnknown,
			Message: "an earlier run of this write may have been applied; it was not run again",
		}
		if n := w.verb.IndeterminateCode; n != nil {
			code = *n
		}
	case errors.As(err, &other):
		code = exitUsage
	default:
		code, err = w.neverRun(err)
	}
	end := record.End{Outcome: o, ExitCode: code}
	if o == nil {
		end.Err = err
	}
	w.finishRecords(end)
	return &exitError{code, refusedError{err}}
}

// kindInDoubt is the kind of a write that the journal does not let run.
const kindInDoubt = "in_doubt"

// answer shows what a run printed that has applied the write already.
func (w *wrapped) answer(e *journal.Entry) error {
	w.printer.Notice("not run again: applied at %s (outlast journal show %s)", e.Ended.Format(time.RFC3339), e.ID)
	if e.Cut || e.By != "" {
		w.printer.Notice("%s", choose(e.Cut, "the journal has only the beginning of its output", "the journal has no output of it: "+e.By+" has settled it"))
	}
	code := 0
	if e.ExitCode != nil && e.By == "" { // else it is that of a run whose answer was lost
		code = int(*e.ExitCode)
	}
	_, outErr := w.printer.Writer(os.Stdout).Write(e.Stdout)
	_, errErr := w.printer.Writer(os.Stderr).Write(e.Stderr)
	failed := errors.Join(outErr, errErr)
	switch {
	case errors.Is(failed, syscall.EPIPE):
		code, failed = 128+int(syscall.SIGPIPE), nil
	case failed != nil:
		code = 1
	}
	o := &abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone, ElapsedUS: (host.SystemClock().Now() - w.call.Started).Microseconds()}
	code = w.chosen(code, ending{outcome: o})
	w.finishRecords(record.End{Outcome: o, ExitCode: code})
	return coded(code, failed)
}

// journalledTask is the task with its attempts on record.
func (w *wrapped) journalledTask(t *host.Task) *host.Task {
	if w.journal == nil {
		return t
	}
	attempt := t.Attempt
	t.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
		result, err := attempt(ctx, n)
		var start *process.StartError
		var told process.Interrupt
		if err != nil && (errors.As(err, &start) || errors.As(err, &told)) {
			err = errors.Join(err, w.journal.Ended(n, true, nil, "")) // nothing ran
		}
		return result, err
	}
	return task.Under(w.journal, *t)
}

// finishJournal puts on record how the call ended: what a given key answers
// with before it is shown, so that a kill in between loses nothing.
func (w *wrapped) finishJournal(e ending) {
	if w.journal == nil {
		return
	}
	defer w.journal.Close()
	if e.outcome == nil {
		return // the attempts' records say what is known
	}
	end := task.End(e.outcome)
	if w.last != nil {
		stdout, stderr := w.last.Kept()
		end.ExitCode = w.last.Result.ExitCode
		end.Stdout, end.StdoutCut, end.Stderr, end.StderrCut = stdout.Bytes, stdout.Cut, stderr.Bytes, stderr.Cut
	}
	if err := w.journal.Finish(end); err != nil {
		w.printer.Error(err)
	}
}
