package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// What the plugin would refuse is refused before the first attempt.
func TestCallsAreCheckedFirst(t *testing.T) {
	negative, huge := int64(-1), int64(1)<<53
	for want, call := range map[string]host.Call{
		"Label":  {Label: strings.Repeat("x", 257)},
		"Budget": {Budget: -time.Second},
		"2^53-1": {Budget: 1<<63 - 1},
		"1 micr": {Budget: 500 * time.Nanosecond},
		"Seed":   {Seed: &negative},
		"number": {Seed: &huge},
	} {
		throughAll(t, func(t *testing.T, d door) {
			_, err := d.run(compiled, context.Background(), &host.Task{Call: call, Attempt: func(context.Context, int64) (abi.Result, error) {
				t.Error("an attempt was made")
				return succeeded(), nil
			}})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		})
		if _, err := compiled.Session(nil, call).Next(context.Background(), abi.Event{}); err == nil {
			t.Errorf("%s: a session takes it", want)
		}
	}
	throughAll(t, func(t *testing.T, d door) {
		if _, err := d.run(compiled, context.Background(), &host.Task{}); err == nil || !strings.Contains(err.Error(), "Attempt is missing") {
			t.Error(err)
		}
	})
}

// A label of any bytes is none of the plugin's business.
func TestLabelsOfAnyBytes(t *testing.T) {
	for _, label := range []string{strings.Repeat("\xff", 256), strings.Repeat("é", 128)[:255], "a\x00\nb"} {
		throughAll(t, func(t *testing.T, d door) {
			task := &host.Task{Call: host.Call{Label: label, Remote: true, Read: true}, Attempts: 2, Clock: &virtual.Clock{}, Attempt: func(_ context.Context, n int64) (abi.Result, error) {
				return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo}, errors.New("refused")
			}}
			if outcome, err := d.run(compiled, context.Background(), task); outcome == nil || outcome.Attempts != 2 {
				t.Errorf("%.9q: %v", label, err)
			}
		})
	}
}

// A session that is over never starts over.
func TestSessionEnds(t *testing.T) {
	s := compiled.Session(nil, host.Call{})
	result := exited(2, "usage")
	event := abi.Event{Type: abi.Attempted, Result: &result}
	if a, err := s.Next(context.Background(), event); err != nil || a.Type != abi.Stop {
		t.Fatal(a, err)
	}
	if a, err := s.Next(context.Background(), event); err == nil {
		t.Errorf("%+v", a)
	}
}

// A long text is cut as the contract has it, and a secret never in two.
func TestLongTextsAndSecretsAreCut(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		outcome, err := d.run(compiled, context.Background(), &host.Task{
			Secrets: []string{"s3cret-token"},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				r := reportOf(strings.Repeat("x", 1015) + " s3cret-token")
				r.Stdout.Head = strings.Repeat("y", 1<<20)
				return r, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(outcome.LastError, "s3c") {
			t.Error(outcome.LastError[1000:])
		}
	})
}

// A repair that the cancelling cut off ends the call as cancelled, without
// another attempt.
func TestCancelInARepair(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		ctx, cancel := context.WithCancel(context.Background())
		attempts := 0
		outcome, err := d.run(compiled, ctx, &host.Task{
			Policy: omnigraph,
			Attempt: func(context.Context, int64) (abi.Result, error) {
				attempts++
				return drifted, nil
			},
			Repair: func(context.Context, bool) (abi.Result, error) {
				cancel()
				return abi.Result{Signal: "SIGTERM"}, nil
			},
		})
		if err != nil || outcome.Type != abi.OutcomeCancelled || attempts != 1 {
			t.Errorf("%+v, %v after %d attempts", outcome, err, attempts)
		}
	})
}
