package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/manual"
)

type completionVerb struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help is what --help adds.
func (completionVerb) Help() string {
	return `For example:

    outlast completion bash > ~/.local/share/bash-completion/completions/outlast
    outlast completion zsh > "${fpath[1]}/_outlast"
    outlast completion fish > ~/.config/fish/completions/outlast.fish`
}

// Run prints a script for the shell.
func (v *completionVerb) Run() error {
	text, err := manual.Completion("outlast", v.Shell)
	if err != nil {
		return exit.Usage("%v", err)
	}
	fmt.Fprint(stdout, text)
	return nil
}

// completeVerb is what the scripts call.
type completeVerb struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words before the one that is completed."`
}

// Run prints what may come next.
func (v *completeVerb) Run(app *kong.Kong, args rawArgs) error {
	manual.Offer(stdout, app.Model.Node, args[min(2, len(args)):], map[string][]string{"NAME|FILE": library.Names()}) // behind complete and --
	return nil
}

type manVerb struct{}

// Help is what --help adds.
func (manVerb) Help() string {
	return `For example:

    outlast man | man -l -
    outlast man > ~/.local/share/man/man1/outlast.1`
}

// Run prints the manual page.
func (manVerb) Run(app *kong.Kong, _ rawArgs) error {
	fmt.Fprint(stdout, manual.Page(app.Model.Node, abi.Release, manualSections))
	return nil
}

// manualSections are what the command line does not tell of itself.
var manualSections = []manual.Section{
	{Title: "Output", Text: `
The standard output is that of the successful attempt, once, or of the last one if all fail. Each attempt's output is held back until the attempt ends, has printed 64 KiB, or has been printing for 2 seconds; then it is passed on as it comes. An attempt whose standard output has been passed on is never run again.

On a terminal one line on standard error tells what is wrong and when the next attempt starts; it disappears at the end. Elsewhere there is one line for each event. Neither quotes the command.`},
	{Title: "Signals", Text: `
INT, TERM, HUP, QUIT and, on Linux, whatever else ends a program by default reach the command, and no further attempt is made; while outlast waits they end it at once. A signal that ends the command ends outlast too. What was ignored or blocked at the start stays so, for the command too. USR1, USR2, WINCH, TSTP and CONT reach the command too. On a terminal the command is in outlast's own process group, so that job control works; elsewhere it leads a group of its own, which gets the signals.`},
	{Title: "Exit status", Text: exitStatus},
	{Title: "Environment", Text: `
Each flag of run can be set as OUTLAST_ and its name, such as OUTLAST_MAX_WAIT=5m; outlast config show tells where each value comes from. The command finds OUTLAST_ATTEMPT, counted from 1, and OUTLAST_ELAPSED_MS, since the start of the call, in its environment; an outlast that finds OUTLAST_ATTEMPT runs the command without a retry of its own. OUTLAST_OFF=1 turns links off.`},
	{Title: "Files", Text: `
$XDG_CONFIG_HOME/outlast/config.yaml or ~/.config/outlast/config.yaml, then those of $XDG_CONFIG_DIRS, then /etc/outlast/config.yaml. Never a file of the current directory.`},
}

const exitStatus = `The command's own; 128 and the number of the signal that ended it; 126 for a command that cannot be run and 127 for one that is not there. It is 0 only if the command's was.

outlast's own: 1 what was asked for does not hold (verify, link), or the command's output could not be written; 2 wrong usage or settings; 3 the command was not run, because of the journal, a lock, or a policy or plugin that cannot be used; 124 the attempt's time limit ended the command, which then called it a success; 125 the command could not be ended.`
