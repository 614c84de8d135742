package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"outlast/abi"
	"outlast/host"
)

// Both ways to run a call go through the middleware, the first outermost, and a task
// that a middleware has copied is the caller's own as before.
func TestMiddleware(t *testing.T) {
	var seen []string
	named := func(name string) host.Middleware {
		return func(next host.RunFunc) host.RunFunc {
			return func(ctx context.Context, task *host.Task) (*abi.Outcome, error) {
				seen = append(seen, name+" "+task.PolicyName())
				outcome, err := next(ctx, task.Observed(func(host.Event) { seen = append(seen, name+" event") }))
				seen = append(seen, name+" "+string(outcome.Type))
				return outcome, err
			}
		}
	}
	plugin := must(host.Open(host.WithMiddleware(named("a")), host.WithMiddleware(named("b"))))
	defer plugin.Close(context.Background())
	ok := int64(200)
	task := &host.Task{Attempt: func(context.Context, int64) (abi.Result, error) { return abi.Result{HTTPStatus: &ok}, nil }}
	want := []string{"a network", "b network", "a event", "b event", "a event", "b event", "b ok", "a ok"}
	for name, run := range map[string]host.RunFunc{"Run": plugin.Run, "RunInPlugin": plugin.RunInPlugin} {
		seen = nil
		if _, err := run(context.Background(), task); err != nil || !slices.Equal(seen, want) {
			t.Errorf("%s: %v, %v", name, seen, err)
		}
	}
	if task.Observe != nil {
		t.Error("the caller's task was changed")
	}
}

// An error goes out through it as it is.
func TestMiddlewareSeesErrors(t *testing.T) {
	mine := errors.New("mine")
	var got error
	plugin := must(host.Open(host.WithMiddleware(func(next host.RunFunc) host.RunFunc {
		return func(ctx context.Context, task *host.Task) (*abi.Outcome, error) {
			outcome, err := next(ctx, task)
			got = err
			return outcome, err
		}
	})))
	defer plugin.Close(context.Background())
	_, err := plugin.Run(context.Background(), &host.Task{
		Attempt: func(context.Context, int64) (abi.Result, error) { return abi.Result{}, mine },
	})
	if !errors.Is(err, mine) || !errors.Is(got, mine) {
		t.Errorf("%v, %v", got, err)
	}
}
