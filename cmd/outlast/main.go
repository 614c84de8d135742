// Command outlast runs a command through the restart of the server that it
// talks to.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/config"
	"outlast/cmd/outlast/internal/exit"
	_ "outlast/cmd/outlast/internal/quietquit"
)

// cli is the command line. A verb's file has its flags and what it does.
type cli struct {
	runOnly

	Policy     policyVerb     `cmd:"" help:"Look at policies, and ask what one would do."`
	Verify     verifyVerb     `cmd:"" help:"Check that a policy outlasts the outages it was sized against."`
	Simulate   simulateVerb   `cmd:"" help:"Play a call, or a fleet of them, through an outage."`
	Measure    measureVerb    `cmd:"" help:"Measure how long a server is away when it restarts."`
	Link       linkVerb       `cmd:"" help:"Let every program that calls a command ride out restarts."`
	Journal    journalVerb    `cmd:"" help:"Look at the writes that run --journal keeps, and settle those in doubt."`
	Config     configVerb     `cmd:"" help:"Show the settings of run, and where each comes from."`
	Completion completionVerb `cmd:"" help:"Print a shell's completion script."`
	Man        manVerb        `cmd:"" help:"Print the manual page."`
	Version    versionVerb    `cmd:"" help:"Show the versions of the tool, its plugin and its policies. --version does the same."`
	Demo       demoVerb       `cmd:"" help:"Watch a write ride out a server's restart, its loading phase too."`

	Complete   completeVerb   `cmd:"" hidden:"" help:"What may come next on a command line."`
	DemoServer demoServerVerb `cmd:"" hidden:"" help:"The server of demo."`
}

// runOnly is the part of the command line that wraps a command.
type runOnly struct {
	Run runVerb `cmd:"" help:"Run a command, through a restart of its server if need be."`
}

// grammar is the part that these arguments are parsed by. kong builds its model
// of a grammar by reflection; that of all verbs would cost a wrapped command
// two thirds more than that of its own.
func (c *cli) grammar(args []string) any {
	if len(args) > 0 && args[0] == "run" {
		return &c.runOnly
	}
	return c
}

func main() {
	if code, is := demoCommand(os.Args); is {
		os.Exit(code)
	}
	if code, under := underLink(os.Args); under {
		leave(code)
	}
	leave(realMain(os.Args[1:]))
}

// realMain runs the tool and gives its exit code.
func realMain(args []string) int {
	if slices.Equal(args, []string{"--version"}) { // as of most programs
		args = []string{"version"}
	}
	var c cli
	parser, err := newParser(c.grammar(args))
	if err != nil {
		panic(err)
	}
	line, err := parse(parser, args)
	var settings *config.Error
	if errors.As(err, &settings) {
		for _, fault := range settings.Faults {
			say("%v", fault)
		}
		return exit.CodeUsage
	}
	if lost := stdout.lost(); lost != nil { // --help's
		return exitCode(lost)
	}
	if err != nil {
		say("%v%s (see outlast --help)", err, elsewhere(parser, args))
		return exit.CodeUsage
	}
	if line.helped {
		return 0
	}
	run := line.runOf(line.verb())
	return exitCode(printed(run(context.Background(), args)))
}

// elsewhere says which verb of a verb was meant by one that is none by itself, such as
// explain of policy; "" if that is not what is wrong.
func elsewhere(parser *kong.Kong, args []string) string {
	if len(args) == 0 || slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == args[0] }) {
		return ""
	}
	for _, verb := range parser.Model.Children {
		for _, inner := range verb.Children {
			if inner.Name == args[0] && !inner.Hidden {
				return fmt.Sprintf("; there is outlast %s %s", verb.Name, inner.Name)
			}
		}
	}
	return ""
}

// printed is the error of a verb that is done: before all else that what it
// printed was lost.
func printed(err error) error {
	return cmp.Or(stdout.lost(), err)
}

func newParser(grammar any) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("outlast"),
		kong.Description("Runs a command through the restart of the server that it talks to.\n\n"+
			"    outlast run -- omnigraph query find_people --server http://graph:8080\n"+
			"    outlast run --attempts 5 --backoff 1s --repeatable -- ./sync.sh\n"+
			"    outlast link omnigraph --dir ~/bin    # for every program that calls it\n\n"+
			"Exit codes: the command's own, or 128 and the signal that ended it; 126 and 127 as a shell gives; "+
			"2 usage; 3 a policy or plugin that cannot be used. outlast man has all of it."),
		flagGroups,
		kong.Writers(stdout, os.Stderr),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
}

// rawArgs are the arguments as they came: kong takes them through JSON, which
// changes bytes that are no UTF-8.
type rawArgs []string

// exitCode tells what went wrong, if that has not been told, and gives the exit
// code.
func exitCode(err error) int {
	var coded *exit.Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &coded):
		coded = &exit.Error{Code: exit.CodeUnusable, Err: err}
	}
	if coded.Err != nil {
		say("%v", coded.Err)
	}
	return coded.Code
}

// say writes a line to stderr, unless that is the command's alone.
func say(format string, args ...any) {
	text := strings.TrimPrefix(fmt.Sprintf(format, args...), "outlast: ")
	fmt.Fprintln(stderr, "outlast: "+text)
}
