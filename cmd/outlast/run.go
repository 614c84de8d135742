package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/process"
)

type runVerb struct {
	wrap.Flags
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command and its arguments."`
}

// flagGroups are the headings in run's help.
var flagGroups = kong.ExplicitGroups([]kong.Group{
	{Key: "command", Title: "What the command is (a write to a server, unless its arguments tell):"},
	{Key: "retry", Title: "What is retried:"},
	{Key: "limit", Title: "How long:"},
	{Key: "process", Title: "How it runs:"},
	{Key: "journal", Title: "What outlives it:"},
	{Key: "tell", Title: "What is told:"},
})

// Help is what --help adds.
func (runVerb) Help() string {
	return `For example:

    outlast run -- omnigraph query find_people --server http://graph:8080
    outlast run -- curl -fsS http://graph:8080/people
    outlast run --retry-exit 7,28 --max-wait 60s --read -- ./report.sh
    outlast run --attempts 5 --backoff 1s --repeatable -- ./sync.sh

Most flags can be set as OUTLAST_<FLAG> and in a file: outlast config show.`
}

// takesSettings has the flags that are not given taken from the environment and
// from the configuration files.
func (v *runVerb) takesSettings() {}

// Run wraps the command.
func (v *runVerb) Run(ctx context.Context, raw rawArgs) error {
	argv := raw[len(raw)-len(v.Command):] // the same, byte for byte
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return exit.Usage("run: expected a command after --")
	}
	if err := checkKey(raw[:len(raw)-len(argv)], argv[0]); err != nil {
		return err
	}
	run, err := wrap.Prepare(&wrap.Request{Flags: v.Flags, Argv: argv, Env: os.Environ()})
	if err != nil {
		return err
	}
	defer run.Close()
	return run.Execute(ctx)
}

// checkKey finds a key that was given as a word of its own, and so was taken for
// the command: the flag's value is optional.
func checkKey(before []string, command string) error {
	var start *process.StartError
	if len(before) == 0 || before[len(before)-1] != "--idempotency-key" || !errors.As(process.Find(command), &start) {
		return nil
	}
	return &exit.Error{Code: start.ExitCode, Err: fmt.Errorf("%w; a key of your own is given as --idempotency-key=%s", start, command)}
}
