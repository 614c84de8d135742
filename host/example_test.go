package host_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// A call whose server is away for a minute. A real caller leaves Clock and Seed
// out, and makes a real attempt.
func ExamplePlugin_Run() {
	plugin, err := host.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer plugin.Close(ctx)

	clock, seed, ok := &virtual.Clock{}, int64(1), int64(200)
	outcome, err := plugin.Run(ctx, &host.Task{
		Call:  host.Call{Label: "query", Remote: true, Seed: &seed, Read: true},
		Clock: clock,
		Attempt: func(context.Context, int64) (abi.Result, error) {
			if clock.Now() < time.Minute {
				return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo}, errors.New("connection refused")
			}
			return abi.Result{HTTPStatus: &ok}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Message)
	// Output: succeeded after 11 attempts over 63.3 s
}

// Calls go by a policy that outlast policy pull keeps for all programs of a machine.
func ExampleFollow() {
	plugin, err := host.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer plugin.Close(ctx)

	orders, err := host.Follow("/var/lib/outlast/policies", "network")
	if err != nil {
		fmt.Println(err)
		return
	}
	ok := int64(200)
	_, err = plugin.Run(ctx, &host.Task{
		Follow: orders,
		Call:   host.Call{Label: "orders", Remote: true},
		Attempt: func(context.Context, int64) (abi.Result, error) {
			return abi.Result{HTTPStatus: &ok}, nil
		},
	})
	fmt.Println(err)
	// Output: <nil>
}

// A caller with a loop of its own asks what to do after each failure.
func ExampleSession() {
	plugin, err := host.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer plugin.Close(ctx)

	seed := int64(1)
	session := plugin.Session(host.Default(), host.Call{Remote: true, Seed: &seed})
	action, err := session.Next(ctx, abi.Event{
		Type:   abi.Attempted,
		NowUS:  2_000_000,
		Result: &abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(action.Type, "in", time.Duration(action.DelayUS)*time.Microsecond)
	// Output: retry in 521.672ms
}
