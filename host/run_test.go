package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// plainSchedule is a policy without jitter, and with the window that is given.
const plainSchedule = `{"version": 1, "name": "plain",
	"budgets": {"unavailable": {%s, "call_budget": "clamp",
		"backoff": {"type": "exponential", "base": "500ms", "multiplier": 2, "cap": "%s"}}},
	"rules": [
		{"kind": "unavailable", "when": [{"text": [{"in": "cause", "at": 2, "is": ["tcp connect error"]}]}],
		 "then": [{"retry": "unavailable"}]},
		{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]}`

// The measured restarts of the real server, and the budgets that did and did
// not outlast them.
func TestMeasuredRestarts(t *testing.T) {
	budgets := []struct {
		name   string
		policy *host.Policy
		lasts  bool
	}{
		{"omnigraph", omnigraph, true},
		{"witan-core", must(host.BuiltIn("witan-core")), true},
		{"42.5 s", must(omnigraph.WithMaxWait(42500 * time.Millisecond)), false},
		{"12 attempts", mustPolicy(t, fmt.Sprintf(plainSchedule, `"attempts": 12`, "5s")), false},
	}
	for _, outage := range []time.Duration{61 * time.Second, 52 * time.Second} {
		for _, b := range budgets {
			t.Run(fmt.Sprint(b.name, " ", outage), func(t *testing.T) {
				throughAll(t, func(t *testing.T, d door) {
					clock := &virtual.Clock{}
					task, _ := outageTask(clock, outage, 0)
					task.Policy = b.policy
					outcome, err := d.run(compiled, context.Background(), task)
					if err != nil {
						t.Fatal(err)
					}
					if lasted := outcome.Type == abi.OutcomeOK; lasted != b.lasts {
						t.Fatalf("outcome %s after %v: %s", outcome.Type, clock.Now(), outcome.Message)
					}
					if b.lasts && clock.Now() > 75*time.Second {
						t.Errorf("back only after %v of 150 s: no headroom", clock.Now())
					}
				})
			})
		}
	}
}

func TestSchedules(t *testing.T) {
	seconds := func(list ...float64) (out []time.Duration) {
		for _, s := range list {
			out = append(out, time.Duration(s*float64(time.Second)))
		}
		return out
	}
	never := time.Hour
	tests := []struct {
		name          string
		wait          string
		outage, takes time.Duration
		want          []time.Duration
	}{
		{"connects fail at once", "75s", never, 0, seconds(0, .5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 65.5, 75)},
		{"connects take 3 s", "60s", never, 3 * time.Second, seconds(0, 3.5, 7.5, 12.5, 19.5, 30.5, 43.5, 56.5, 63)},
		{"server back at 59.9 s", "60s", 59900 * time.Millisecond, 0, seconds(0, .5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5, 55.5, 60)},
		{"a short window", "5s", never, 0, seconds(0, .5, 1.5, 3.5, 5)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			throughAll(t, func(t *testing.T, d door) {
				task, starts := outageTask(&virtual.Clock{}, test.outage, test.takes)
				task.Policy = mustPolicy(t, fmt.Sprintf(plainSchedule, `"max_wait": "`+test.wait+`"`, "10s"))
				if _, err := d.run(compiled, context.Background(), task); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, *starts); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A clock that stands still must not buy attempts, and one that jumps must not
// cost more than the window.
func TestFrozenClockEnds(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		task, starts := outageTask(&virtual.Clock{}, time.Hour, 0)
		task.Clock = frozen{}
		task.Policy = mustPolicy(t, fmt.Sprintf(plainSchedule, `"max_wait": "5s"`, "10s"))
		outcome, err := d.run(compiled, context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		if len(*starts) != 5 || outcome.Reason != abi.ReasonWindow {
			t.Errorf("%d attempts, %s", len(*starts), outcome.Message)
		}
	})
}

type frozen struct{}

func (frozen) Now() time.Duration                         { return time.Second }
func (frozen) Sleep(context.Context, time.Duration) error { return nil }

func TestCancelInAWait(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		ctx, cancel := context.WithCancel(context.Background())
		attempts := 0
		var waits []host.Waiting
		outcome, err := d.run(compiled, ctx, &host.Task{
			Policy: omnigraph,
			Call:   host.Call{Remote: true},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				attempts++
				return refused(), nil
			},
			Observe: func(e host.Event) {
				if w, ok := e.(host.Waiting); ok {
					waits = append(waits, w)
					cancel()
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if outcome.Type != abi.OutcomeCancelled || outcome.Effects != abi.EffectsNone || attempts != 1 || len(waits) != 1 {
			t.Errorf("%+v after %d attempts and %d waits", outcome, attempts, len(waits))
		}
		if outcome.LastError == "" {
			t.Error("the outcome does not say what the last attempt met")
		}
	})
}

func TestCancelInAnAttempt(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		ctx, cancel := context.WithCancel(context.Background())
		outcome, err := d.run(compiled, ctx, &host.Task{
			Policy: omnigraph,
			Call:   host.Call{Remote: true},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				cancel()
				return abi.Result{Signal: "SIGTERM"}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if outcome.Type != abi.OutcomeCancelled || outcome.Effects != abi.EffectsUnknown {
			t.Errorf("%+v", outcome)
		}
	})
}

// An attempt that was done before the cancelling reached it has succeeded.
func TestCancelAfterSuccess(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		ctx, cancel := context.WithCancel(context.Background())
		outcome, err := d.run(compiled, ctx, &host.Task{
			Attempt: func(context.Context, int64) (abi.Result, error) {
				cancel()
				return succeeded(), nil
			},
		})
		if err != nil || outcome.Type != abi.OutcomeOK {
			t.Errorf("%+v, %v", outcome, err)
		}
	})
}

func TestAttemptThatCannotBeMade(t *testing.T) {
	missing := errors.New("no such program")
	throughAll(t, func(t *testing.T, d door) {
		clock := &virtual.Clock{}
		_, err := d.run(compiled, context.Background(), &host.Task{
			Policy: omnigraph,
			Call:   host.Call{Remote: true, Read: true}, Clock: clock,
			Attempt: func(_ context.Context, n int64) (abi.Result, error) {
				if n == 3 {
					return abi.Result{}, missing
				}
				return refused(), nil
			},
		})
		if !errors.Is(err, missing) {
			t.Error(err)
		}
	})
}

var drifted = reportOf("dataset for node type 'Person' is at Lance HEAD version 3, ahead of published dataset version 2; run `omnigraph repair` before writing")

func TestRepair(t *testing.T) {
	tests := []struct {
		name     string
		policy   string
		repair   func(context.Context, bool) (abi.Result, error)
		outcome  abi.OutcomeType
		reason   string
		attempts int64
	}{
		{"succeeds", "omnigraph", func(_ context.Context, force bool) (abi.Result, error) {
			if force {
				return abi.Result{}, errors.New("forced")
			}
			return succeeded(), nil
		}, abi.OutcomeOK, "", 2},
		{"fails", "omnigraph", func(context.Context, bool) (abi.Result, error) { return exited(1, "refused"), nil }, abi.OutcomeFailed, abi.ReasonRepairFailed, 1},
		{"is not there", "omnigraph", nil, abi.OutcomeFailed, abi.ReasonRepairFailed, 1},
		{"fails in witan-core", "witan-core", func(_ context.Context, force bool) (abi.Result, error) {
			if !force {
				return abi.Result{}, errors.New("not forced")
			}
			return exited(1, "refused"), nil
		}, abi.OutcomeOK, "", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			throughAll(t, func(t *testing.T, d door) {
				outcome, err := d.run(compiled, context.Background(), &host.Task{
					Policy: must(host.BuiltIn(test.policy)), Clock: &virtual.Clock{},
					Call: host.Call{},
					Attempt: func(_ context.Context, n int64) (abi.Result, error) {
						if n == 1 {
							return drifted, nil
						}
						return succeeded(), nil
					},
					Repair: test.repair,
				})
				if err != nil {
					t.Fatal(err)
				}
				if test.reason != "" && !strings.Contains(outcome.LastError, "run `omnigraph repair` before writing\nrepair: ") {
					t.Errorf("the outcome lacks one of the two texts: %s", outcome.LastError)
				}
				if outcome.Type != test.outcome || outcome.Reason != test.reason || outcome.Attempts != test.attempts {
					t.Errorf("%+v", outcome)
				}
			})
		})
	}
}

func TestSecretsStayHere(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		outcome, err := d.run(compiled, context.Background(), &host.Task{
			Secrets: []string{"s3cret", ""},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				return reportOf("bad token s3cret"), nil
			},
			Observe: func(e host.Event) {
				if text := fmt.Sprintf("%+v", e); strings.Contains(text, "s3cret") {
					t.Errorf("%T: %s", e, text)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if outcome.LastError != "bad token [redacted]" {
			t.Error(outcome.LastError)
		}
	})
}

// More attempts than the plugin makes in one go: the call must go on with its
// state.
func TestManyAttempts(t *testing.T) {
	policy := fmt.Sprintf(plainSchedule, `"attempts": 1201`, "500ms")
	throughAll(t, func(t *testing.T, d door) {
		task, starts := outageTask(&virtual.Clock{}, 24*time.Hour, 0)
		task.Policy = mustPolicy(t, policy)
		outcome, err := d.run(compiled, context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		if outcome.Attempts != 1201 || len(*starts) != 1201 || (*starts)[1200] != 600*time.Second {
			t.Errorf("%d attempts, the last at %v: %s", len(*starts), (*starts)[len(*starts)-1], outcome.Message)
		}
	})
}

func TestManyCallsFewInstances(t *testing.T) {
	var wg sync.WaitGroup
	outcomes := make(chan string, 200)
	for i := range 200 {
		wg.Go(func() {
			outage := time.Duration(i) * time.Second
			task, _ := outageTask(&virtual.Clock{}, outage, 0)
			outcome, err := compiled.Run(context.Background(), task)
			want := abi.OutcomeOK
			if outage > 150*time.Second {
				want = abi.OutcomeExhausted
			}
			if outcome == nil || outcome.Type != want {
				outcomes <- fmt.Sprint(outage, outcome, err)
			}
		})
	}
	wg.Wait()
	close(outcomes)
	for wrong := range outcomes {
		t.Error(wrong)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The time that deciding takes, such as loading the plugin, is part of the delay.
func TestDelayCountsFromTheFailure(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		clock := &virtual.Clock{}
		task, starts := outageTask(clock, time.Hour, 0)
		task.Policy = mustPolicy(t, fmt.Sprintf(plainSchedule, `"max_wait": "5s"`, "10s"))
		task.Observe = func(e host.Event) {
			if _, ok := e.(host.AttemptEnded); ok {
				clock.Advance(100 * time.Millisecond)
			}
		}
		if _, err := d.run(compiled, context.Background(), task); err != nil {
			t.Fatal(err)
		}
		want := []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 5 * time.Second}
		if diff := cmp.Diff(want, *starts); diff != "" {
			t.Error(diff)
		}
	})
}
