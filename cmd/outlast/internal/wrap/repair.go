package wrap

import (
	"context"
	"errors"

	"outlast/abi"
	"outlast/commands/omnigraph"
)

// repair repairs the store that the command works on, under its lock.
func (r *Run) repair(ctx context.Context, force bool) (abi.Result, error) {
	graph := r.plan.Command.Graph
	if graph == nil {
		return abi.Result{}, errors.New("only omnigraph's stores can be repaired")
	}
	if r.plan.Linked {
		return abi.Result{}, errors.New("a repair needs the store's lock, which is the caller's")
	}
	argv := omnigraph.RepairArgv(*graph, force || r.plan.Flags.RepairForce)
	if argv == nil {
		return abi.Result{}, errors.New("only a local store can be repaired from here")
	}
	if !r.lock.isHeld() {
		release, err := r.lock.take(ctx)
		if err != nil {
			return abi.Result{}, err
		}
		defer release()
	}
	command := r.attempts.command(argv, r.attempts.made)
	command.Stdout = command.Stderr
	ended, err := command.Attempt(ctx)
	if err != nil {
		return abi.Result{}, err
	}
	if !ended.Result.OK() {
		return ended.Result, ended.Commit()
	}
	ended.Discard()
	return ended.Result, nil
}
