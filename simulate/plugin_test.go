package simulate_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/plugin/policy"
	"outlast/simulate"
)

func refused() abi.Result {
	one := int64(1)
	return abi.Result{ExitCode: &one, Stderr: abi.Clip("Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n   1: client error (Connect)\n   2: tcp connect error\n\nLocation:\n")}
}

// A call that is simulated in the plugin is the call that the host drives on a
// virtual clock, and both are what the policy package decides.
func TestSimulatedAsTheHostDrives(t *testing.T) {
	ctx := context.Background()
	plug, err := host.Open(host.WithCompiler())
	if err != nil {
		t.Fatal(err)
	}
	defer plug.Close(ctx)
	for _, name := range policy.Names() {
		for _, outage := range []time.Duration{52 * time.Second, 61 * time.Second, 200 * time.Second} {
			for _, takes := range []time.Duration{0, 3 * time.Second} {
				for seed := range int64(5) {
					p, err := host.BuiltIn(name)
					if err != nil {
						t.Fatal(err)
					}
					driven, outcome := drive(t, plug, p, seed, outage, takes)
					scene := &simulate.Scene{Away: []simulate.Span{{From: 0, To: outage}}, Takes: takes, Loading: 20 * time.Second, Results: simulate.Results{Down: refused()}}
					call := host.Call{Label: "query", Remote: true, Read: true, Seed: &seed}
					inPlugin, err := simulate.Play(ctx, plug.Session(p, call), scene, 0, nil)
					if err != nil {
						t.Fatal(err)
					}
					doc, err := policy.BuiltIn(name)
					if err != nil {
						t.Fatal(err)
					}
					wire := &abi.Call{Label: "query", Remote: true, ConnectRetry: true, Seed: &seed}
					native, err := simulate.Play(ctx, simulate.NewNative(doc, wire), scene, 0, nil)
					if err != nil {
						t.Fatal(err)
					}
					watched := *scene
					watched.Watch = &simulate.AsHost
					watchedInPlugin, err := simulate.Play(ctx, plug.Session(p, call), &watched, 0, nil)
					if err != nil {
						t.Fatal(err)
					}
					watchedNative, err := simulate.Play(ctx, simulate.NewNative(doc, wire), &watched, 0, nil)
					if err != nil || !reflect.DeepEqual(watchedInPlugin, watchedNative) {
						t.Errorf("%s, watched: in the plugin %+v, natively %+v, %v", name, watchedInPlugin, watchedNative, err)
					}
					if !reflect.DeepEqual(inPlugin, native) {
						t.Errorf("%s: in the plugin %+v, natively %+v", name, inPlugin, native)
					}
					if !reflect.DeepEqual(native.Starts(), driven) || !reflect.DeepEqual(native.Outcome, *outcome) {
						t.Errorf("%s: driven %v %s, simulated %v %s", name, driven, outcome.Encode(), native.Starts(), native.Outcome.Encode())
					}
				}
			}
		}
	}
}

// drive is a call that the host drives, as its own tests do.
func drive(t *testing.T, plug *host.Plugin, p *host.Policy, seed int64, outage, takes time.Duration) (starts []time.Duration, outcome *abi.Outcome) {
	t.Helper()
	clock := &virtual.Clock{}
	outcome, err := plug.Run(context.Background(), &host.Task{
		Policy: p, Clock: clock,
		Call: host.Call{Label: "query", Remote: true, Read: true, Seed: &seed},
		Attempt: func(context.Context, int64) (abi.Result, error) {
			starts = append(starts, clock.Now())
			if clock.Now() >= outage {
				return abi.Result{ExitCode: new(int64)}, nil
			}
			clock.Advance(takes)
			return refused(), nil
		},
	})
	if outcome == nil {
		t.Fatal(err)
	}
	return starts, outcome
}
