package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"outlast/abi"
	"outlast/cmd/outlast/internal/metrics"
	"outlast/cmd/outlast/internal/policyflags"
	"outlast/cmd/outlast/internal/progress"
	"outlast/cmd/outlast/internal/record"
	"outlast/cmd/outlast/internal/show"
	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/journal"
	"outlast/process"
)

type runVerb struct {
	callFlags         `group:"command"`
	Wrapper           []string `group:"command" sep:"none" placeholder:"FILE" help:"A script that does no more than to run the command once."`
	Policy            string   `group:"retry" placeholder:"NAME|FILE" help:"By default the command's: see outlast policy list."`
	policyflags.Flags `group:"retry"`
	pluginFlags       `group:"retry"`
	limitFlags        `group:"limit"`
	processFlags      `group:"process"`
	journalFlags      `group:"journal"`

	idempotencyFlags `group:"journal"`
	outputFlags      `group:"tell"`
	Command          []string `arg:"" optional:"" passthrough:"partial" help:"The command and its arguments."`
}

type limitFlags struct {
	MaxWait        *time.Duration `placeholder:"DURATION" help:"To wait for a server that is away, instead of the policy's."`
	CallBudget     *time.Duration `placeholder:"DURATION" help:"For all, waits included; its end gets one last attempt."`
	AttemptTimeout *time.Duration `placeholder:"DURATION" help:"For each attempt; none unless given, and omnigraph's own client has none."`
	KillAfter      *time.Duration `placeholder:"DURATION" help:"From TERM to KILL: 10s after a timeout; never after a signal, unless given."`
	Ready          string         `placeholder:"TARGET" default:"auto" help:"What shows that the server is back: tcp://HOST:PORT, a URL, auto, off."`
}

type processFlags struct {
	Stdin             string `enum:"replay,pass,none" default:"replay" help:"replay: the same for each attempt. pass: ours, for one. none."`
	ExhaustedCode     *int   `placeholder:"N" help:"Exit with N when a budget is spent."`
	IndeterminateCode *int   `placeholder:"N" help:"Exit with N when a write may have been applied."`
	RepairForce       bool   `help:"Let a repair publish what it finds suspicious."`
	Seed              *int64 `placeholder:"N" help:"Of the jitter, for a repeatable schedule."`
}

type outputFlags struct {
	Quiet       bool   `short:"q" xor:"loud" help:"Say nothing of our own."`
	Verbose     bool   `short:"v" xor:"loud" help:"Tell of each attempt, and show its stderr."`
	LogFormat   string `enum:"auto,text,json" default:"auto" help:"auto: one line in place on a terminal. text, json: log lines."`
	Events      string `placeholder:"FILE" help:"Append what happens, one JSON object a line."`
	Report      string `placeholder:"FILE" help:"Write what became of the call, one JSON object."`
	MetricsFile string `placeholder:"FILE" help:"Add the call up for Prometheus' textfile collector."`
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

// Run wraps the command. All that can be wrong with our own part is found
// before the command is started.
func (v *runVerb) Run(ctx context.Context, raw rawArgs) error {
	argv := raw[len(raw)-len(v.Command):] // the same, byte for byte
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return usageError("run: expected a command after --")
	}
	w := &wrapped{verb: v, argv: argv, env: os.Environ()}
	if err := w.prepare(); err != nil {
		return err
	}
	defer w.close()
	if switchedOff() || isInside() && !v.looksOn() {
		return started(process.Replace(argv, w.env))
	}
	return w.tell(w.run(ctx))
}

// wrapped is one wrapped command.
type wrapped struct {
	verb           *runVerb
	argv           []string
	env            []string
	name           string   // of the command, if it is one whose lines can be read
	known          bool     // the program surely is that command, and not another of its name
	lineEnv        []string // the environment in which the command then runs
	linked         bool     // called as the command: its stores' locks are the caller's
	policy         *host.Policy
	plugin         *host.Plugin
	call           host.Call
	repeatable     bool                  // a write, which may be applied again all the same
	graph          *omnigraph.Invocation // nil: another command
	params         omnigraph.Params
	line           commands.Line
	watch          watching
	stdin          *process.Stdin
	inputs         *process.Inputs
	spent          error // why the last attempt, which failed, cannot be run again; nil: it can
	relay          *process.Relay
	ctx            context.Context // the call's
	progress       progress.State
	printer        *show.Printer
	recorder       *record.Recorder
	counter        *metrics.Recorder
	lock           *omnigraph.StoreLock // nil: not held
	journal        *journal.Run         // nil: none is kept
	idempotencyKey string               // that the command sends; "": none
	attempts       int64
	last           *process.Ended // the last attempt, whose output is still held
	gc             int            // Go's percentage, while another holds
}

func (w *wrapped) prepare() (err error) {
	v := w.verb
	if err := v.check(); err != nil {
		return err
	}
	w.describeCall()
	w.progress.Started = w.call.Started
	if err := w.choosePolicy(); err != nil {
		return err
	}
	if err := w.prepareKey(); err != nil {
		return err
	}
	if w.watch, err = w.chooseWatching(); err != nil {
		return err
	}
	if w.plugin, err = v.open(); err != nil {
		return err
	}
	w.printer = show.New(show.Options{
		Out: w.voice(), Format: showFormat(v.LogFormat), Watched: w.watch.target, Quiet: v.Quiet, Verbose: v.Verbose, Progress: &w.progress,
	})
	if err := w.openRecords(); err != nil {
		return err
	}
	if w.stdin, err = process.NewStdin(os.Stdin, process.StdinMode(v.Stdin)); err != nil {
		return usageError("%v", err)
	}
	if w.inputs, err = process.NewInputs(w.argv[1:], w.stdin); err != nil {
		return unusable(err)
	}
	return nil
}

// voice is where we may speak.
func (w *wrapped) voice() *os.File {
	if w.linked {
		return nil
	}
	return os.Stderr
}

func showFormat(flag string) show.Format {
	if flag == "auto" {
		return show.Auto
	}
	return show.Format(flag)
}

// looksOn says whether a flag asks for more than a retry, which is done also
// where another outlast decides what is run again.
func (v *runVerb) looksOn() bool {
	return v.AttemptTimeout != nil || v.KillAfter != nil || v.Events != "" || v.Report != "" || v.MetricsFile != "" || v.hasOwnKey()
}

// check finds what is wrong with the numbers.
func (v *runVerb) check() error {
	for _, d := range []struct {
		flag  string
		value *time.Duration
	}{{"call-budget", v.CallBudget}, {"attempt-timeout", v.AttemptTimeout}, {"kill-after", v.KillAfter}, {"idempotency-honoured", v.IdempotencyHonoured}} {
		if d.value != nil && *d.value < time.Microsecond {
			return usageError("--%s: expected a positive duration such as 30s, not %v", d.flag, *d.value)
		}
	}
	if v.Seed != nil && (*v.Seed < 0 || *v.Seed >= 1<<53) {
		return usageError("--seed: expected a number from 0 to 2^53-1, not %d", *v.Seed)
	}
	for _, c := range []struct {
		flag  string
		value *int
	}{{"exhausted-code", v.ExhaustedCode}, {"indeterminate-code", v.IndeterminateCode}} {
		if n := c.value; n != nil && (*n < 1 || *n > 255) {
			return usageError("--%s: expected a number from 1 to 255, not %d", c.flag, *n)
		}
	}
	if err := v.checkWrappers(); err != nil {
		return err
	}
	return v.journalFlags.check()
}

func (w *wrapped) close() {
	w.printer.Close()
	if w.last != nil {
		w.last.Discard()
	}
	w.inputs.Close()
	w.stdin.Close()
	// The plugin is not closed: that would wait for what it compiles in the
	// background, and the process ends anyway.
}

func (w *wrapped) run(ctx context.Context) error {
	// What an attempt leaves behind becomes ours to end, where the system has that.
	_ = process.BecomeSubreaper()
	relay, ctx := process.NewRelay(ctx, process.RelayOptions{
		KillAfter: value(w.verb.KillAfter), Refused: func(err error) { w.printer.Notice("%v", err) },
	})
	w.relay, w.ctx = relay, ctx
	if w.verb.Verbose {
		w.printer.Notice("policy %s; %s", w.policy.Name(), w.described())
	}
	switch answer, err := w.begin(ctx); {
	case err != nil:
		return w.refuse(err)
	case answer != nil:
		return w.answer(answer)
	}
	w.placeKey()
	e := w.carryOut(ctx)
	code, err := w.end(e)
	// The relay is not stopped: giving the signals back takes longer than what is
	// left to do.
	err = coded(code, err)
	if by := relay.EndsBy(w.last); by != 0 && code == 128+int(by) {
		_ = w.tell(err)
		w.close()
		process.EndBy(by)
	}
	return err
}

// described says what the call is taken for, which decides what is retried.
func (w *wrapped) described() string {
	what := choose(w.call.Read, "a read", "a write")
	if w.repeatable {
		what = "a write that may be repeated"
	}
	return what + choose(w.call.Remote, " over the network", " of a local store")
}

// ending is what a call came to.
type ending struct {
	outcome *abi.Outcome
	err     error // why there is no outcome
}

// carryOut makes the call, under the store's lock where it needs that.
func (w *wrapped) carryOut(ctx context.Context) ending {
	release, err := w.takeLock(ctx)
	if err != nil {
		return ending{err: err}
	}
	defer release()
	if w.isPassed() {
		return w.once(ctx)
	}
	outcome, err := w.plugin.RunInPlugin(ctx, w.journalledTask(&host.Task{
		Policy: w.policy, Call: w.call, Attempt: w.attempt, Repair: w.repair, Observe: w.observe,
		Ready: w.watch.server, Unwatched: w.watch.off, Secrets: w.secrets(),
	}))
	return ending{outcome, err}
}

// tell tells an error in the form of the rest.
func (w *wrapped) tell(err error) error {
	var exit *exitError
	if errors.As(err, &exit) && exit.err != nil {
		w.printer.Error(exit.err)
		return &exitError{code: exit.code}
	}
	return err
}

// value is what a flag was given, or 0.
func value(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}
