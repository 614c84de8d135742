package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/internal/telemetry"
)

// told is what one call did to the metrics, summed by series.
func told(t *testing.T, call host.Call, budget time.Duration, failures int) (map[string]float64, *abi.Outcome) {
	t.Helper()
	sums := map[string]float64{}
	plugin, err := host.Open(host.WithMiddleware(telemetry.Middleware(func(policy string) telemetry.Sink {
		return func(m *telemetry.Metric, value float64, labels ...string) {
			if len(labels) != len(m.Labels) {
				t.Errorf("%s: %q", m.Name, labels)
			}
			sums[strings.Join(append([]string{m.Name, policy}, labels...), " ")] += value
		}
	})))
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	clock, ok := &virtual.Clock{}, int64(200)
	call.Budget, call.Seed = budget, new(int64)
	outcome, _ := plugin.Run(context.Background(), &host.Task{
		Call: call, Clock: clock,
		Attempt: func(_ context.Context, n int64) (abi.Result, error) {
			if n <= int64(failures) {
				return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo}, errors.New("connection refused")
			}
			return abi.Result{HTTPStatus: &ok}, nil
		},
	})
	return sums, outcome
}

// The waits of a call that rides out an outage are all of its time, since its attempts
// take none; its window is the policy's.
func TestACallThatIsRiddenOut(t *testing.T) {
	sums, outcome := told(t, host.Call{Remote: true, Read: true}, 0, 5)
	took := time.Duration(outcome.ElapsedUS) * time.Microsecond
	for series, want := range map[string]float64{
		"outlast_calls_total network ok unavailable":            1,
		"outlast_attempts_total network false":                  5,
		"outlast_attempts_total network true":                   1,
		"outlast_retries_total network unavailable unavailable": 5,
		"outlast_wait_seconds_total network":                    took.Seconds(),
		"outlast_retried_call_seconds network ok":               took.Seconds(),
		"outlast_budget_used_ratio network":                     took.Seconds() / 150,
	} {
		if got := sums[series]; got < want-1e-6 || got > want+1e-6 {
			t.Errorf("%s: %v, and not %v, of %v", series, got, want, sums)
		}
	}
}

func TestACallThatSucceedsAtOnce(t *testing.T) {
	sums, _ := told(t, host.Call{Remote: true, Read: true}, 0, 0)
	if want := "map[outlast_attempts_total network true:1 outlast_calls_total network ok none:1]"; fmt.Sprint(sums) != want {
		t.Errorf("%v", sums)
	}
}

// A call that gives up has used all of what it had: of its own budget, if that is less.
func TestACallThatGivesUp(t *testing.T) {
	for _, budget := range []time.Duration{0, 5 * time.Second} {
		sums, outcome := told(t, host.Call{Remote: true, Read: true}, budget, 1000)
		if sums["outlast_calls_total network exhausted unavailable"] != 1 || sums["outlast_budget_used_ratio network"] != 1 {
			t.Errorf("%v: %v, %+v", budget, sums, outcome)
		}
	}
}
