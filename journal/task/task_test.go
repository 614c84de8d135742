package task_test

import (
	"context"
	"fmt"
	"os"

	"outlast/abi"
	"outlast/host"
	"outlast/journal"
	"outlast/journal/task"
)

// A write under a key is made once, whoever runs the program again.
func ExampleUnder() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	plugin, err := host.Open()
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	defer plugin.Close(ctx)
	write := func() error {
		j, err := journal.Open(dir, journal.Options{})
		if err != nil {
			return err
		}
		key, err := journal.Given("load-2026-11-30")
		if err != nil {
			return err
		}
		run, earlier, err := j.Begin(ctx, key, journal.What{Argv: []string{"load", "today"}})
		if err != nil {
			return err // an *InDoubtError: look first
		}
		if earlier != nil {
			fmt.Printf("done before: %s\n", earlier.Stdout)
			return nil
		}
		defer run.Close()
		outcome, err := plugin.Run(ctx, task.Under(run, host.Task{
			Call: host.Call{Remote: true},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				fmt.Println("loading")
				return abi.Result{ExitCode: new(int64)}, nil
			},
		}))
		if err != nil {
			return err // what is on record stands
		}
		end := task.End(outcome)
		end.Stdout = []byte("12 entities")
		return run.Finish(end)
	}
	for range 2 {
		if err := write(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// loading
	// done before: 12 entities
}
