// Command outlast runs a command through the restart of the server that it
// talks to.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes of our own. Every other is the wrapped command's.
const (
	exitNotOutlasted = 1 // verify: a measured outage is not outlasted
	exitUsage        = 2
	exitUnusable     = 3 // a policy or plugin that cannot be used
)

// cli is the command line. A verb's file has its flags and what it does.
type cli struct {
	Run     runVerb     `cmd:"" help:"Run a command, through a restart of its server if need be."`
	Policy  policyVerb  `cmd:"" help:"Look at policies, and ask what one would do."`
	Verify  verifyVerb  `cmd:"" help:"Check that a policy outlasts the outages it was sized against."`
	Version versionVerb `cmd:"" help:"Show the versions of the tool, its plugin and its policies."`
	Demo    demoVerb    `cmd:"" help:"Watch a real client ride out the restart of a real server."`

	DemoServer demoServerVerb `cmd:"" hidden:"" help:"The server of demo."`
	DemoClient demoClientVerb `cmd:"" hidden:"" help:"The client of demo."`
}

func main() {
	os.Exit(realMain(os.Args[1:]))
}

// realMain runs the tool and gives its exit code.
func realMain(args []string) int {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("outlast"),
		kong.Description("Runs a command through the restart of the server that it talks to.\n\n"+
			"    outlast run -- omnigraph query find_people --server http://graph:8080\n\n"+
			"Exit codes: the command's own, or 128 and the signal that ended it; 126 and 127 as a shell gives; "+
			"2 usage; 3 a policy or plugin that cannot be used. verify: 1 if an outage is not outlasted."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		say("%v (see outlast --help)", err)
		return exitUsage
	}
	parsed.BindTo(context.Background(), (*context.Context)(nil))
	parsed.Bind(rawArgs(args))
	return exitCode(parsed.Run())
}

// rawArgs are the arguments as they came: kong takes them through JSON, which
// changes bytes that are no UTF-8.
type rawArgs []string

// exitError is an error with the exit code that goes with it.
type exitError struct {
	code int
	err  error // nil: everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func unusable(err error) error { return &exitError{exitUnusable, err} }

func exitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		exit = &exitError{exitUnusable, err}
	}
	if exit.err != nil {
		say("%v", exit.err)
	}
	return exit.code
}

// say writes a line of our own to stderr.
func say(format string, args ...any) {
	text := strings.TrimPrefix(fmt.Sprintf(format, args...), "outlast: ")
	fmt.Fprintln(os.Stderr, "outlast: "+text)
}
