package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"outlast/commands/omnigraph"
)

// takeLock takes the lock that every writer of a local store takes, for as long
// as the call lasts. The wait for it counts against the call's budget.
func (w *wrapped) takeLock(ctx context.Context) (release func(), err error) {
	if len(w.lockPaths()) == 0 || !w.writes() || w.call.Remote {
		return func() {}, nil
	}
	if w.call.Budget > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, w.call.Budget, errLockBudget)
		defer cancel()
	}
	release, err = w.lockStore(ctx)
	if errors.Is(err, errLockBudget) {
		err = fmt.Errorf("the call's budget of %v ended while waiting for %s; the command was not run", w.call.Budget, strings.Join(w.lockPaths(), " and "))
	}
	return release, err
}

var errLockBudget = errors.New("the call's budget ended")

// lockStore takes the lock of the store that the command opens itself.
func (w *wrapped) lockStore(ctx context.Context) (release func(), err error) {
	paths := w.lockPaths()
	if len(paths) == 0 {
		return func() {}, nil
	}
	told := func() {}
	w.lock, err = omnigraph.Lock(ctx, paths, func(h omnigraph.Holder) {
		if !h.Above { // which waits for us, as it should
			told()
			told = w.printer.Status("waiting for the store's lock, held by %s", h)
		}
	})
	told()
	if err != nil {
		return nil, err
	}
	return func() {
		if err := w.lock.Release(); err != nil {
			w.printer.Notice("%v", err)
		}
		w.lock = nil
	}, nil
}

// lockPaths are the locks of the store that the command opens itself, whatever
// the command does there; none if there is none. A caller that knows nothing of
// us may hold one while it waits for us.
func (w *wrapped) lockPaths() []string {
	if w.graph == nil || w.linked {
		return nil
	}
	writing := *w.graph
	writing.Write = true
	return omnigraph.LockPaths(writing)
}
