package host_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// unreached is a failed request, and what its client said.
func unreached(secret string) (abi.Result, error) {
	return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo},
		fmt.Errorf("calling with %s: %w", secret, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded})
}

// A call that does not succeed is an error, in which its outcome and the last
// attempt's own error are found.
func TestAnOutcomeThatIsNotOkIsAnError(t *testing.T) {
	for name, run := range runs {
		outcome, err := run(compiled, t.Context(), &host.Task{
			Call: host.Call{Label: "pay"}, Clock: &virtual.Clock{}, Secrets: []string{"hunter2"},
			Attempt: func(context.Context, int64) (abi.Result, error) { return unreached("hunter2") },
		})
		var failed *host.CallError
		var own *net.OpError
		switch {
		case !errors.As(err, &failed) || failed.Outcome != outcome || outcome.Type != abi.OutcomeExhausted:
			t.Errorf("%s: %+v, %v", name, outcome, err)
		case !errors.As(err, &own) || !errors.Is(err, os.ErrDeadlineExceeded):
			t.Errorf("%s: the attempt's own error is lost: %v", name, err)
		case strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "its max_wait is 150s: calling with [redacted]: dial"):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So it is where the caller's deadline passes, in a wait and in an attempt.
func TestADeadlineKeepsTheOwnError(t *testing.T) {
	for _, run := range runs {
		for _, within := range []string{"a wait", "an attempt"} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			outcome, err := run(compiled, ctx, &host.Task{
				Call: host.Call{Remote: true, Read: true},
				Attempt: func(ctx context.Context, n int64) (abi.Result, error) {
					if within == "an attempt" {
						<-ctx.Done()
					}
					return unreached("x")
				},
			})
			cancel()
			var own *net.OpError
			if outcome == nil || outcome.Type != abi.OutcomeCancelled || !errors.As(err, &own) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("in %s: %+v, %v", within, outcome, err)
			}
		}
	}
}

// The caller's word makes a request the only one, unless several were seen; what
// was seen to be sent stays so.
func TestOnlyRequest(t *testing.T) {
	for name, c := range map[string]struct {
		result  abi.Result
		err     error
		claimed bool
		want    abi.OutcomeType
	}{
		"refused, unclaimed":       {abi.Result{Failure: abi.FailureUnconnected}, nil, false, abi.OutcomeIndeterminate},
		"refused":                  {abi.Result{Failure: abi.FailureUnconnected}, nil, true, abi.OutcomeOK},
		"no name":                  {abi.Result{Failure: abi.FailureUnresolved, Sent: abi.SentUnknown}, nil, true, abi.OutcomeOK},
		"untrusted":                {abi.Result{Failure: abi.FailureUntrusted}, nil, true, abi.OutcomeFailed},
		"broke":                    {abi.Result{Failure: abi.FailureBroke}, nil, true, abi.OutcomeIndeterminate},
		"sent before":              {abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentYes}, nil, true, abi.OutcomeIndeterminate},
		"no such thing":            {abi.Result{HTTPStatus: new(int64(404))}, nil, true, abi.OutcomeFailed},
		"no such thing, unclaimed": {abi.Result{HTTPStatus: new(int64(404))}, nil, false, abi.OutcomeIndeterminate},
		"no such thing, of two":    {abi.Result{HTTPStatus: new(int64(404))}, counted(2), true, abi.OutcomeIndeterminate},
		"no such thing, of one":    {abi.Result{HTTPStatus: new(int64(404))}, counted(1), true, abi.OutcomeFailed},
	} {
		throughAll(t, func(t *testing.T, d door) {
			outcome, err := d.run(compiled, t.Context(), &host.Task{
				Clock: &virtual.Clock{}, OnlyRequest: c.claimed,
				Attempt: func(_ context.Context, n int64) (abi.Result, error) {
					if n > 1 {
						return abi.Result{HTTPStatus: new(int64(200))}, nil
					}
					return c.result, c.err
				},
			})
			if err != nil || outcome.Type != c.want {
				t.Errorf("%s: %+v, %v", name, outcome, err)
			}
		})
	}
}

// counted is an attempt's error that says how many requests it made.
type counted int

func (counted) Error() string   { return "refused" }
func (c counted) Requests() int { return int(c) }

// What cannot be used says so at the start.
func TestWarmUp(t *testing.T) {
	events := make(chan host.Loaded, 1)
	for name, open := range map[string][]host.Option{
		"compiled": {host.WithCompiler()}, "interpreted": {host.WithInterpreter()},
	} {
		p, err := host.Open(open...)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.WarmUp(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err = p.Run(t.Context(), &host.Task{
			Call: host.Call{Read: true}, Clock: &virtual.Clock{},
			Attempt: func(_ context.Context, n int64) (abi.Result, error) {
				if n == 1 {
					return unreached("x")
				}
				return abi.Result{HTTPStatus: new(int64(200))}, nil
			},
			Observe: func(e host.Event) {
				if l, ok := e.(host.Loaded); ok {
					events <- l
				}
			},
		})
		if l := <-events; err != nil || (l.How == "interpreted") != (name == "interpreted") {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		var failed *host.PluginError
		if err := p.WarmUp(t.Context()); !errors.As(err, &failed) {
			t.Errorf("closed: %v", err)
		}
	}
}
