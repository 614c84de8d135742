// Package retry has the short forms of host.Plugin.Run: a function that gives a value,
// and a loop.
//
//	people, err := retry.Do(ctx, plugin, &host.Task{Call: host.Call{Label: "people", Remote: true, Read: true}},
//		func(ctx context.Context) ([]Person, error) { return query(ctx) })
//
// The task says all but the attempt. What the function's error means is read as
// httpattempt.Func reads it, so a write needs host.Task.OnlyRequest to be made again
// after a connection that could not be made. For tests, host.WithOneAttempt switches
// trying again off.
package retry

import (
	"context"
	"errors"

	"outlast/host"
	"outlast/httpattempt"
)

// Do calls f until it succeeds or the policy stops, with a context that bounds the
// attempt. The value is that of the last call of f, also beside an error, which is
// as host.Plugin.Run's: errors.As finds a *host.CallError in it, and f's own error.
//
// A value is never looked at. f makes an error of an answer that is a failure, such
// as by httpattempt.Check.
func Do[T any](ctx context.Context, plugin *host.Plugin, task *host.Task, f func(context.Context) (T, error)) (value T, err error) {
	err = run(ctx, plugin, task, func(ctx context.Context) (err error) {
		value, err = f(ctx)
		return err
	})
	return value, err
}

func run(ctx context.Context, plugin *host.Plugin, task *host.Task, f func(context.Context) error) error {
	if task.Attempt != nil {
		return errors.New("outlast: retry: the task has an Attempt of its own: call host.Plugin.Run")
	}
	t := *task
	t.Attempt = httpattempt.Func(f)
	_, err := plugin.Run(ctx, &t)
	return err
}
