package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/omnigraph"
	"outlast/host/subprocess"
)

type runVerb struct {
	pluginFlags
	callFlags
	Policy      string         `placeholder:"NAME|FILE" help:"The policy; by default the one for the command's name, which omnigraph has."`
	MaxWait     *time.Duration `placeholder:"DURATION" help:"How long to wait for a server that is away, instead of the policy's max_wait."`
	CallBudget  *time.Duration `placeholder:"DURATION" help:"How long the whole call may take; no new attempt starts after it."`
	RepairForce bool           `help:"Let a repair publish what it finds suspicious (omnigraph repair --force)."`
	Seed        *int64         `placeholder:"N" help:"The seed of the jitter, for a repeatable schedule."`
	Quiet       bool           `short:"q" help:"Say nothing of our own."`
	Events      string         `placeholder:"FILE" help:"Append what happens to FILE, one JSON object a line."`
	Command     []string       `arg:"" passthrough:"" help:"The command and its arguments, after --."`
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
	return w.run(ctx)
}

// wrapped is one wrapped command.
type wrapped struct {
	verb   *runVerb
	argv   []string
	env    []string
	policy *host.Policy
	plugin *host.Plugin
	call   host.Call
	graph  *omnigraph.Invocation // nil: another command
	stdin  *subprocess.Stdin
	events *eventLog
	locked bool              // the store's lock is held
	last   *subprocess.Ended // the last attempt, whose output is still held
}

func (w *wrapped) prepare() (err error) {
	v := w.verb
	if v.CallBudget != nil && *v.CallBudget < time.Microsecond {
		return usageError("--call-budget: expected a positive duration such as 30s, not %v", *v.CallBudget)
	}
	if v.Seed != nil && (*v.Seed < 0 || *v.Seed >= 1<<53) {
		return usageError("--seed: expected a number from 0 to 2^53-1, not %d", *v.Seed)
	}
	if err := w.choosePolicy(); err != nil {
		return err
	}
	w.describeCall()
	if w.plugin, err = v.open(); err != nil {
		return err
	}
	if w.events, err = openEventLog(v.Events); err != nil {
		return usageError("--events: %v", err)
	}
	if w.stdin, err = subprocess.NewStdin(os.Stdin); err != nil {
		return usageError("%v", err)
	}
	return nil
}

func (w *wrapped) choosePolicy() error {
	name := w.verb.Policy
	switch {
	case name != "":
	case omnigraph.Is(w.argv[0]):
		name = "omnigraph"
	default:
		return usageError("run: there is no policy for %s: name one with --policy, and say --read if the command changes nothing (else it is a write)", w.argv[0])
	}
	p, err := loadPolicy(name)
	if err == nil {
		p, err = withMaxWait(p, w.verb.MaxWait)
	}
	w.policy = p
	return err
}

// describeCall reads omnigraph's command line. Of another command nothing is
// known, so it is a write unless the caller says otherwise.
func (w *wrapped) describeCall() {
	guess := host.Call{Label: label(w.argv[0]), Remote: true}
	if omnigraph.Is(w.argv[0]) {
		inv := omnigraph.Parse(w.argv)
		guess = host.Call{Label: label(inv.Verb), Remote: inv.Remote, Read: !inv.Write}
		w.graph = &inv
		w.env = omnigraph.Env(w.env, inv, "")
	}
	w.call = w.verb.call(guess)
	w.call.Seed = w.verb.Seed
	if w.verb.CallBudget != nil {
		w.call.Budget = *w.verb.CallBudget
	}
	w.call.Started = host.SystemClock().Now()
}

// label is a command's name for messages, at most 64 bytes of it (a choice).
func label(command string) string {
	name := filepath.Base(command)
	return strings.ToValidUTF8(name[:min(len(name), 64)], "")
}

func (w *wrapped) close() {
	if w.last != nil {
		w.last.Discard()
	}
	w.stdin.Close()
	w.events.close()
	// The plugin is not closed: that would wait for what it compiles in the
	// background, and the process ends anyway.
}

func (w *wrapped) run(ctx context.Context) error {
	ctx, stop := withSignals(ctx)
	defer stop()
	release, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	outcome, err := w.plugin.RunInPlugin(ctx, &host.Task{
		Policy: w.policy, Call: w.call, Attempt: w.attempt, Repair: w.repair,
		Observe: w.observe, Secrets: w.secrets(),
	})
	return w.end(ctx, outcome, err)
}

// withSignals cancels the context with the signal that asks us to stop, which
// the command then gets too.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as nohup has it, and a shell for a job in the background
			signal.Notify(signals, s)
		}
	}
	// A reader that goes away must not end us while the command runs on: writing
	// gives an error instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		select {
		case s := <-signals:
			cancel(subprocess.Interrupt{Signal: s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// lock takes the lock that every writer of a local store takes, for as long as
// the call lasts. The wait for it counts against the call's budget.
func (w *wrapped) lock(ctx context.Context) (release func() error, err error) {
	path := w.lockPath()
	if path == "" || w.call.Read || w.call.Remote {
		return func() error { return nil }, nil
	}
	if w.call.Budget > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, w.call.Budget, errLockBudget)
		defer cancel()
	}
	release, err = omnigraph.Lock(ctx, path)
	switch {
	case err == nil:
		w.locked = true
		return release, nil
	case signalOf(ctx) != 0:
		return nil, &exitError{128 + int(signalOf(ctx)), fmt.Errorf("interrupted while waiting for %s; the command was not run", path)}
	case errors.Is(context.Cause(ctx), errLockBudget):
		return nil, unusable(fmt.Errorf("the call's budget of %v ended while waiting for %s; the command was not run", w.call.Budget, path))
	}
	return nil, unusable(err)
}

// lockPath is the lock of the store that the command opens itself, whatever the
// command does there; "" if there is none.
func (w *wrapped) lockPath() string {
	if w.graph == nil {
		return ""
	}
	writing := *w.graph
	writing.Write = true
	return omnigraph.LockPath(writing)
}

var errLockBudget = errors.New("the call's budget ended")

func signalOf(ctx context.Context) syscall.Signal {
	var i subprocess.Interrupt
	if errors.As(context.Cause(ctx), &i) {
		return i.Signal
	}
	return 0
}

// attempt runs the command once. Its output is held until it is known whether
// it is the one that the user shall see.
func (w *wrapped) attempt(ctx context.Context, _ int64) (abi.Result, error) {
	command := subprocess.Command{
		Argv: w.argv, Env: w.env, Stdin: w.stdin, Stdout: os.Stdout, Stderr: os.Stderr, Clock: nowMicros,
	}
	ended, err := command.Attempt(ctx)
	if err != nil {
		return abi.Result{}, err
	}
	// Only now: an attempt that cannot be started takes nothing away.
	if w.last != nil {
		w.last.Discard()
	}
	w.last = ended
	return ended.Result, nil
}

func nowMicros() int64 { return host.SystemClock().Now().Microseconds() }

// repair repairs the store that the command works on, under its lock.
func (w *wrapped) repair(ctx context.Context, force bool) (abi.Result, error) {
	if w.graph == nil {
		return abi.Result{}, errors.New("only omnigraph's stores can be repaired")
	}
	argv := omnigraph.RepairArgv(*w.graph, force || w.verb.RepairForce)
	if argv == nil {
		return abi.Result{}, errors.New("only a local store can be repaired from here")
	}
	if path := w.lockPath(); path != "" && !w.locked {
		release, err := omnigraph.Lock(ctx, path)
		if err != nil {
			return abi.Result{}, err
		}
		defer release()
	}
	command := subprocess.Command{Argv: argv, Env: w.env, Stdout: os.Stderr, Stderr: os.Stderr, Clock: nowMicros}
	ended, err := command.Attempt(ctx)
	if err != nil {
		return abi.Result{}, err
	}
	if !ended.Result.OK() {
		return ended.Result, ended.Commit()
	}
	ended.Discard()
	return ended.Result, nil
}

// secrets are what must not leave in a text of ours.
func (w *wrapped) secrets() []string {
	var secrets []string
	for _, e := range w.env {
		name, value, _ := strings.Cut(e, "=")
		if value != "" && (name == omnigraph.TokenVar || strings.HasPrefix(name, "OMNIGRAPH_TOKEN_")) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// end shows the last attempt's output and gives its exit code, whatever the
// policy and the plugin made of it.
func (w *wrapped) end(ctx context.Context, outcome *abi.Outcome, err error) error {
	var start *subprocess.StartError
	switch {
	case errors.As(err, &start) && w.last == nil:
		return &exitError{start.ExitCode, start}
	case w.last == nil:
		if s := signalOf(ctx); s != 0 {
			return &exitError{128 + int(s), errors.New("interrupted")}
		}
		return unusable(err)
	}
	shown := w.last.Commit()
	if err != nil {
		say("%v", err)
	} else if tellsMore(outcome) {
		w.say("%s", outcome.Message)
	}
	if err == nil && outcome.Remedy != "" {
		w.say("%s", outcome.Remedy)
	}
	code := w.exitCode(ctx)
	switch {
	case code == 0 && errors.Is(shown, syscall.EPIPE):
		return &exitError{code: 128 + int(syscall.SIGPIPE)} // as in any pipeline
	case code == 0 && shown != nil:
		return &exitError{1, shown}
	}
	if code == 0 {
		return nil
	}
	return &exitError{code: code}
}

// tellsMore says whether an outcome is more than the command's own failure.
func tellsMore(o *abi.Outcome) bool {
	plain := o.Type == abi.OutcomeFailed && o.Attempts == 1 && o.Reason == ""
	return o.Type != abi.OutcomeOK && !plain
}

// exitCode is the command's own, or 128 and the signal where one ended it or us.
func (w *wrapped) exitCode(ctx context.Context) int {
	if s := signalOf(ctx); s != 0 && w.last.Result.ExitCode != nil && !w.last.Result.OK() {
		return 128 + int(s)
	}
	return w.last.ShellStatus()
}

func (w *wrapped) say(format string, args ...any) {
	if !w.verb.Quiet {
		say(format, args...)
	}
}

// observe tells the user what happens. It names kinds and never quotes the
// command: a caller may search our stderr for the command's own words.
func (w *wrapped) observe(e host.Event) {
	w.events.write(e)
	switch e := e.(type) {
	case host.Waiting:
		left := ""
		if e.Remaining != nil {
			left = fmt.Sprintf(", and at most %s of waiting left", seconds(*e.Remaining))
		}
		w.say("%s; attempt %d in %s%s", e.Kind, e.Attempt, seconds(e.Delay), left)
	case host.Repairing:
		w.say("%s; repairing the store", e.Kind)
	case host.InstanceReplaced:
		w.say("the plugin failed, and was replaced: %v", e.Err)
	}
}
