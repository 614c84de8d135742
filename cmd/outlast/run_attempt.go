package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/show"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/process"
)

// attempt runs the command once. Its output is held until it is known whether
// it is the one that the user shall see.
func (w *wrapped) attempt(ctx context.Context, n int64) (abi.Result, error) {
	w.printer.Attempting(n)
	w.attempts = n
	command := w.command(w.argv, n)
	command.Stdin, command.Inputs, command.Stdout = w.stdin, w.inputs, w.printer.Writer(os.Stdout)
	command.OneLog = isOneFile(os.Stdout, os.Stderr)
	command.Timeout = value(w.verb.AttemptTimeout)
	command.Interactive = w.verb.Stdin != string(process.None) && show.IsTerminal(os.Stdin) && show.IsTerminal(os.Stderr)
	ended, err := command.Attempt(ctx)
	if ended == nil {
		return abi.Result{}, err // an attempt that cannot be started takes nothing away
	}
	if w.last != nil {
		w.last.Discard()
	}
	w.last = ended
	if w.verb.Verbose && !ended.Result.OK() {
		ended.ShowStderr() // what cannot be written now cannot be in the end either
	}
	w.tellLeft(ended, err)
	w.spendInputs(ended)
	if ended.Result.Sent = w.line.Sent(&ended.Result); w.graph != nil {
		ended.Result.Sent = w.params.Sent(&ended.Result)
	}
	return ended.Result, err
}

// isOneFile says whether both lead to the same file, pipe or terminal.
func isOneFile(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	other, err := b.Stat()
	return err == nil && os.SameFile(one, other)
}

// spendInputs lets a failed attempt be the last if another would have less to
// read. To the policy that is as if its output had been passed on: it must not run
// again, whatever it was.
func (w *wrapped) spendInputs(ended *process.Ended) {
	if w.spent = w.inputs.Spent(); ended.Result.OK() || ended.Result.Streamed {
		w.spent = nil
	}
	ended.Result.Streamed = ended.Result.Streamed || w.spent != nil
}

// explainSpent says in the outcome why there was no further attempt.
func (w *wrapped) explainSpent(o *abi.Outcome) *abi.Outcome {
	if o == nil || w.spent == nil || o.Reason != abi.ReasonStreamed {
		return o
	}
	said := *o
	said.Message = strings.Replace(o.Message, streamedText, "since "+w.spent.Error(), 1)
	return &said
}

// streamedText is the reason that the policy gives.
const streamedText = "since its output has been passed on"

// tellLeft tells what became of that which an attempt left behind. An attempt
// that could not be ended itself is an error, which is told in the end.
func (w *wrapped) tellLeft(ended *process.Ended, err error) {
	if err == nil && ended.Unended != nil {
		w.printer.Notice("%v", ended.Unended)
	}
	if n := ended.HoldersEnded; n > 0 {
		w.printer.Notice("ended %d %s that still held the command's output", n, choose(n == 1, "process", "processes"))
	}
	if ended.CutOff {
		w.printer.Notice("another process still holds the command's output; what it prints from now on is lost")
	}
}

// attemptVar and elapsedVar tell the command which attempt it is, counted from
// 1, and how many milliseconds after the start of the call it began.
const (
	attemptVar = "OUTLAST_ATTEMPT"
	elapsedVar = "OUTLAST_ELAPSED_MS"
)

// isInside says whether an outlast runs us, or the program that runs us: that
// one decides what is run again.
func isInside() bool { return os.Getenv(attemptVar) != "" }

// command is a command of the call's. It has the lock, so that the store stays
// locked even if we are killed while it writes.
func (w *wrapped) command(argv []string, attempt int64) *process.Command {
	c := &process.Command{
		Argv: argv, Env: w.env[:len(w.env):len(w.env)], Stderr: w.printer.Writer(os.Stderr),
		KillAfter: value(w.verb.KillAfter), Relay: w.relay, Clock: nowMicros,
	}
	c.Env = append(c.Env, attemptVar+"="+strconv.FormatInt(attempt, 10),
		elapsedVar+"="+strconv.FormatInt((host.SystemClock().Now()-w.call.Started).Milliseconds(), 10))
	if runtime.GOOS == "windows" {
		return c
	}
	if w.lock != nil {
		c.Keep = w.lock.Files()
	}
	if w.journal != nil { // so that who runs it again waits for this one's end
		c.Keep = append(c.Keep, w.journal.File())
	}
	return c
}

func nowMicros() int64 { return host.SystemClock().Now().Microseconds() }

// repair repairs the store that the command works on, under its lock.
func (w *wrapped) repair(ctx context.Context, force bool) (abi.Result, error) {
	if w.graph == nil {
		return abi.Result{}, errors.New("only omnigraph's stores can be repaired")
	}
	if w.linked {
		return abi.Result{}, errors.New("a repair needs the store's lock, which is the caller's")
	}
	argv := omnigraph.RepairArgv(*w.graph, force || w.verb.RepairForce)
	if argv == nil {
		return abi.Result{}, errors.New("only a local store can be repaired from here")
	}
	if w.lock == nil {
		release, err := w.lockStore(ctx)
		if err != nil {
			return abi.Result{}, err
		}
		defer release()
	}
	command := w.command(argv, w.attempts)
	command.Stdout = command.Stderr
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

// loadingGC is the percentage by which the heap may grow between collections
// while the plugin is loaded: from Go's least heap of 4 MB far enough that none
// falls into it. Collections then took 20 ms of 58, and freed next to nothing
// (measured).
const loadingGC = 800

// collect keeps Go's collector away from the loading of the plugin.
func (w *wrapped) collect(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		if !e.OK && e.Attempt == 1 {
			w.gc = debug.SetGCPercent(loadingGC)
		}
	case host.Loaded:
		debug.SetGCPercent(w.gc)
	}
}

// observe passes on what happens to all who tell or keep it.
func (w *wrapped) observe(e host.Event) {
	w.collect(e)
	w.progress.Add(e)
	w.printer.Observe(e)
	w.recorder.Observe(e)
	if _, waits := e.(host.Waiting); waits {
		w.watch.name.check(w.ctx, w.printer.Notice)
	}
}
