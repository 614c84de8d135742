package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"

	"outlast/abi"
	"outlast/cmd/outlast/internal/inputs"
	"outlast/cmd/outlast/internal/show"
	"outlast/host"
	"outlast/journal"
	"outlast/journal/task"
	"outlast/process"
)

// journalling keeps the write on record.
type journalling struct {
	plan *Plan
	tell *show.Printer
	run  *journal.Run // nil: none is kept
	key  string       // the record's name
}

// begin puts a write into the journal. An answer is that of an earlier run.
func (j *journalling) begin(ctx context.Context) (answer *journal.Entry, err error) {
	if j.plan.Journal.Dir == "" {
		return nil, nil
	}
	opened, err := journal.Open(j.plan.Journal.Dir, journal.Options{Secrets: j.plan.Secrets})
	if err != nil {
		return nil, err
	}
	key, what, err := j.describe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := withBudget(ctx, j.plan)
	defer cancel()
	told := func() {}
	what.Waiting = func() {
		told = j.tell.Status("waiting for another run of this write, which has the journal's record %s", key.ID())
	}
	j.run, answer, err = opened.Begin(ctx, key, what)
	told()
	if errors.Is(err, errCallBudget) {
		err = fmt.Errorf("the call's budget of %v ended while another run of this write was under way; the command was not run", j.plan.Call.Budget)
	}
	j.key = key.ID()
	return answer, err
}

// describe is the write's key and what its record says.
func (j *journalling) describe() (key journal.Key, what journal.What, err error) {
	p := j.plan
	dir, err := os.Getwd()
	if err != nil {
		return key, what, fmt.Errorf("the journal: finding the working directory: %w", err)
	}
	what = journal.What{
		Argv: p.Argv, Dir: dir, Target: p.Journal.Target, Repeatable: p.Repeatable,
		IdempotencyKey: p.IdempotencyKey, Honoured: p.Journal.Honoured,
	}
	if p.Flags.JournalKey != "" {
		key, err = journal.Given(p.Flags.JournalKey)
		return key, what, err
	}
	read, err := inputs.Digests(p.Argv, os.Stdin, p.takesStdin())
	if err != nil {
		return key, what, fmt.Errorf("the journal: %w", err)
	}
	return journal.Made(p.Argv, dir, what.Target, read...), what, nil
}

// under is the task with its attempts on record.
func (j *journalling) under(t *host.Task) *host.Task {
	if j.run == nil {
		return t
	}
	attempt := t.Attempt
	t.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
		result, err := attempt(ctx, n)
		var start *process.StartError
		var told process.Interrupt
		if err != nil && (errors.As(err, &start) || errors.As(err, &told)) {
			err = errors.Join(err, j.run.Ended(n, true, nil, "")) // nothing ran
		}
		return result, err
	}
	return task.Under(j.run, *t)
}

// finish puts on record how the call ended: what a given key answers with before
// it is shown, so that a kill in between loses nothing.
func (j *journalling) finish(o *abi.Outcome, last *process.Ended) {
	if j.run == nil {
		return
	}
	defer j.run.Close()
	if o == nil {
		return // the attempts' records say what is known
	}
	end := task.End(o)
	if last != nil {
		stdout, stderr := last.Kept()
		end.ExitCode = last.Result.ExitCode
		end.Stdout, end.StdoutCut, end.Stderr, end.StderrCut = stdout.Bytes, stdout.Cut, stderr.Bytes, stderr.Cut
	}
	if err := j.run.Finish(end); err != nil {
		j.tell.Error(err)
	}
}
