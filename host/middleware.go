package host

import (
	"context"

	"outlast/abi"
)

// RunFunc carries out a task, as Plugin.Run does.
type RunFunc func(ctx context.Context, t *Task) (*abi.Outcome, error)

// Middleware runs around each call of a plugin, as an observer of all calls does. It
// calls next once, and may give it another context and a copy of the task, such as
// one whose Observe and Attempt are wrapped. It must not change the task itself.
type Middleware func(next RunFunc) RunFunc

// WithMiddleware runs these around each call of Run and RunInPlugin, the first of
// them outermost. Without any a call costs nothing more.
func WithMiddleware(m ...Middleware) Option {
	return func(o *options) { o.around = append(o.around, m...) }
}

// wrapped is run with the plugin's middleware around it.
func (p *Plugin) wrapped(run RunFunc) RunFunc {
	for i := len(p.around) - 1; i >= 0; i-- {
		run = p.around[i](run)
	}
	return run
}

// PolicyName is what the policy that the task goes by calls itself.
func (t *Task) PolicyName() string {
	if t.Follow != nil {
		return t.Follow.name
	}
	return t.policy().Name()
}

// Observed is a copy of the task whose events o gets too, after Observe.
func (t *Task) Observed(o Observer) *Task {
	observed := *t
	observed.Observe = func(e Event) {
		t.observe(e)
		o(e)
	}
	return &observed
}

// Observing is a middleware of observers: each call has its own.
func Observing(of func(t *Task) Observer) Middleware {
	return func(next RunFunc) RunFunc {
		return func(ctx context.Context, t *Task) (*abi.Outcome, error) { return next(ctx, t.Observed(of(t))) }
	}
}
