package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// The hosts in Python and Node play the same table.
func TestWithSpread(t *testing.T) {
	type object = map[string]any
	var table struct {
		Policy object
		Cases  []struct {
			Name          string
			Wake, Becomes object
			SpreadUS      int64 `json:"spread_us"`
		}
		WrongUS []int64 `json:"wrong_us"`
	}
	text, err := os.ReadFile("testdata/spread.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	with := func(wake object) *host.Policy {
		budget := table.Policy["budgets"].(object)["away"].(object)
		delete(budget, "wake")
		if wake != nil {
			budget["wake"] = wake
		}
		text, err := json.Marshal(table.Policy)
		if err != nil {
			t.Fatal(err)
		}
		return mustPolicy(t, string(text))
	}
	for _, c := range table.Cases {
		got, err := with(c.Wake).WithSpread(time.Duration(c.SpreadUS) * time.Microsecond)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if want := with(c.Becomes); got.Digest() != want.Digest() {
			t.Errorf("%s:\n%s\nand not\n%s", c.Name, got.Document(), want.Document())
		}
	}
	for _, us := range table.WrongUS {
		wrong := time.Duration(us) * time.Microsecond
		for _, wake := range []object{table.Cases[0].Wake, nil} {
			var fault *host.PolicyError
			_, err := with(wake).WithSpread(wrong)
			if want := "spread: expected a duration from 1µs to 1h0m0s, not " + wrong.String(); !errors.As(err, &fault) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v: %v", wrong, err)
			}
		}
	}
}

// wokenAt is when a call starts its second attempt that sees its server ready at once.
func wokenAt(t *testing.T, d door, task *host.Task) time.Duration {
	t.Helper()
	clock, at, seed := &virtual.Clock{}, time.Duration(0), int64(1)
	task.Call, task.Clock = host.Call{Remote: true, Read: true, Seed: &seed}, clock
	task.Ready = &eyes{t: t, seen: func() host.Seen { return host.Seen{Rose: abi.Ready} }}
	task.Attempt = func(_ context.Context, n int64) (abi.Result, error) {
		if at = clock.Now(); n > 1 {
			return succeeded(), nil
		}
		return abi.Result{Failure: abi.FailureUnconnected, Message: abi.Clip("refused")}, nil
	}
	if o, err := d.run(compiled, t.Context(), task); err != nil || o.Type != abi.OutcomeOK {
		t.Fatalf("%+v, %v", o, err)
	}
	return at
}

// The spread of a task comes before its policy's, whatever else is changed of that and
// wherever it comes from. The seed's second number is three quarters.
func TestSpread(t *testing.T) {
	const spread, late = 2 * time.Second, 1491563 * time.Microsecond
	wide, err := host.Default().WithSpread(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	throughAll(t, func(t *testing.T, d door) {
		if at := wokenAt(t, d, &host.Task{}); at > 30*time.Millisecond {
			t.Errorf("by the policy's own: %v", at)
		}
		for name, task := range map[string]*host.Task{
			"alone":         {Spread: spread},
			"with a window": {Spread: spread, MaxWait: time.Minute},
			"of a policy":   {Spread: spread, Policy: wide},
			"of a followed": {Spread: spread, Follow: must(host.Follow(t.TempDir(), "network"))},
		} {
			for range 2 { // the second time it is known
				if at := wokenAt(t, d, task); at != late {
					t.Errorf("%s: %v", name, at)
				}
			}
		}
	})
}
