package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"outlast/cmd/outlast/internal/show"
	"outlast/commands/omnigraph"
)

// storeLock is the lock that every writer of a local store takes.
type storeLock struct {
	plan *Plan
	tell *show.Printer
	lock *omnigraph.StoreLock // nil: not held
}

// forCall takes the lock for as long as the call lasts, where it needs that. The
// wait for it counts against the call's budget.
func (l *storeLock) forCall(ctx context.Context) (release func(), err error) {
	paths, budget := l.paths(), l.plan.Call.Budget
	if len(paths) == 0 || !l.plan.writes() || l.plan.Call.Remote {
		return func() {}, nil
	}
	ctx, cancel := withBudget(ctx, l.plan)
	defer cancel()
	release, err = l.take(ctx)
	if errors.Is(err, errCallBudget) {
		err = fmt.Errorf("the call's budget of %v ended while waiting for %s; the command was not run", budget, strings.Join(paths, " and "))
	}
	return release, err
}

var errCallBudget = errors.New("the call's budget ended")

// withBudget ends with the call's budget, where it has one, because of errCallBudget.
func withBudget(ctx context.Context, p *Plan) (context.Context, context.CancelFunc) {
	if p.Call.Budget == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, p.Call.Budget, errCallBudget)
}

// take takes the lock of the store that the command opens itself.
func (l *storeLock) take(ctx context.Context) (release func(), err error) {
	paths := l.paths()
	if len(paths) == 0 {
		return func() {}, nil
	}
	told := func() {}
	l.lock, err = omnigraph.Lock(ctx, paths, func(h omnigraph.Holder) {
		if !h.Above { // whoever holds it waits for outlast, as it should
			told()
			told = l.tell.Status("waiting for the store's lock, held by %s", h)
		}
	})
	told()
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

func (l *storeLock) release() {
	if err := l.lock.Release(); err != nil {
		l.tell.Notice("%v", err)
	}
	l.lock = nil
}

func (l *storeLock) isHeld() bool { return l.lock != nil }

// files are what a process inherits that keeps the lock; none if it is not held.
func (l *storeLock) files() []*os.File {
	if l.lock == nil {
		return nil
	}
	return l.lock.Files()
}

// paths are the locks of the store that the command opens itself, whatever the
// command does there; none if there is none. Under a link a caller that knows
// nothing of outlast may hold one while it waits for outlast.
func (l *storeLock) paths() []string {
	graph := l.plan.Command.Graph
	if graph == nil || l.plan.Linked {
		return nil
	}
	writing := *graph
	writing.Write = true
	return omnigraph.LockPaths(writing)
}
