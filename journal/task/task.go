// Package task keeps a journal of a host's task: each attempt is on disk before
// it is made, and what is known of its effects after it.
package task

import (
	"context"

	"outlast/abi"
	"outlast/host"
	"outlast/journal"
)

// Under is the task with its attempts kept in the run's record. It relies on the
// policy: unless the call may be repeated, a policy repeats a write only on evidence
// that nothing of the attempt before can have had an effect.
//
// An attempt that cannot be put on record is not made, and ends the call with
// the journal's error.
func Under(run *journal.Run, t host.Task) *host.Task {
	attempt, observe, last := t.Attempt, t.Observe, int64(0)
	t.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
		if err := run.Attempt(n); err != nil {
			return abi.Result{}, err
		}
		last = n
		result, err := attempt(ctx, n)
		if (err == nil || result != (abi.Result{})) && !result.OK() {
			// If this cannot be written, the attempt stays in doubt and no other can
			// follow it. The result is returned all the same.
			_ = run.Ended(n, result.Sent == abi.SentNo, result.ExitCode, result.Signal)
		}
		return result, err
	}
	t.Observe = func(e host.Event) {
		if again(e) && isProof(&t.Call) {
			_ = run.Ended(last, true, nil, "")
		}
		if observe != nil {
			observe(e)
		}
	}
	return &t
}

// again says that the policy has decided to try again.
func again(e host.Event) bool {
	switch e.(type) {
	case host.Waiting, host.Repairing:
		return true
	}
	return false
}

// isProof says that a policy repeats the call only where nothing was applied.
func isProof(c *host.Call) bool { return !c.Read && !c.Repeatable }

// End is how a run ended, by its outcome, for journal.Run.Finish.
func End(o *abi.Outcome) journal.End {
	return journal.End{Outcome: string(o.Type), EffectsNone: o.Effects == abi.EffectsNone}
}
