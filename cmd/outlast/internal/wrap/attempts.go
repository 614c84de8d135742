package wrap

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/show"
	"outlast/host"
	"outlast/internal/environ"
	"outlast/journal"
	"outlast/process"
)

// attempts runs the command, and holds what the last attempt printed until it is
// known whether the user sees it.
type attempts struct {
	plan    *Plan
	tell    *show.Printer
	relay   *process.Relay
	argv    []string
	env     []string
	stdin   *process.Stdin
	inputs  *process.Inputs
	lock    *storeLock
	journal *journal.Run // nil: none is kept

	made  int64
	last  *process.Ended // nil: none has been made
	spent error          // why the last attempt, which failed, cannot be run again; nil: it can
}

// prepare adds the journal's record and the idempotency key, the call's or the
// journal's, to the command's environment and arguments.
func (a *attempts) prepare(lock *storeLock, run *journal.Run, record string) {
	a.lock, a.journal = lock, run
	if run != nil {
		a.env = environ.With(a.env, heldVar, strings.Join(append(held(a.env), record), ","))
	}
	key := a.plan.IdempotencyKey
	if key != "" && run != nil && run.IdempotencyKey() != "" {
		key = run.IdempotencyKey()
	}
	a.argv, a.env = withKey(a.argv, a.env, key)
}

// attempt runs the command once.
func (a *attempts) attempt(ctx context.Context, n int64) (abi.Result, error) {
	a.tell.Attempting(n)
	a.made = n
	ended, err := a.mainCommand(n).Attempt(ctx)
	if ended == nil {
		return abi.Result{}, err // an attempt that cannot be started takes nothing away
	}
	if a.last != nil {
		a.last.Discard()
	}
	a.last = ended
	a.tellLeft(ended, err)
	ended.Result.Sent = a.plan.Command.Sent(&ended.Result)
	a.spendInputs(ended)
	if err != nil { // beside a result it would be the attempt's own, and the call went on
		return abi.Result{}, err
	}
	return ended.Result, nil
}

// observe shows what a failed attempt said, once it is known that another follows:
// of the last one it is the command's own, and written as such.
func (a *attempts) observe(e host.Event) {
	switch e := e.(type) {
	case host.Waiting:
		if e.Again {
			return
		}
	case host.Repairing:
	default:
		return
	}
	if a.plan.Flags.Verbose && a.last != nil {
		a.tell.Pass(a.last.TakeStderr())
	}
}

// mainCommand is the user's command, as attempt n runs it.
func (a *attempts) mainCommand(n int64) *process.Command {
	c := a.command(a.argv, n)
	c.Stdin, c.Inputs, c.Stdout = a.stdin, a.inputs, a.tell.Writer(os.Stdout)
	c.OneLog = isOneFile(os.Stdout, os.Stderr)
	c.Timeout = orZero(a.plan.Flags.AttemptTimeout)
	c.Interactive = a.plan.takesStdin() && show.IsTerminal(os.Stdin) && show.IsTerminal(os.Stderr)
	return c
}

// command is a command of the call's. It holds the store's lock, so that the
// store stays locked even if outlast is killed while the command writes, and the
// journal's, so that who runs the write again waits for this one's end.
func (a *attempts) command(argv []string, n int64) *process.Command {
	c := &process.Command{
		Argv: argv, Stderr: a.tell.Writer(os.Stderr), KillAfter: orZero(a.plan.Flags.KillAfter), Relay: a.relay, Clock: nowMicros,
	}
	elapsed := host.SystemClock().Now() - a.plan.Call.Started
	c.Env = environ.With(a.env, AttemptVar, strconv.FormatInt(n, 10))
	c.Env = environ.With(c.Env, elapsedVar, strconv.FormatInt(elapsed.Milliseconds(), 10))
	if runtime.GOOS == "windows" {
		return c
	}
	c.Keep = a.lock.files()
	if a.journal != nil {
		c.Keep = append(c.Keep, a.journal.File())
	}
	return c
}

func nowMicros() int64 { return host.SystemClock().Now().Microseconds() }

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
// read, or may write once more where what it wrote cannot be taken back. To the
// policy that is as if its output had been passed on: it must not run again,
// whatever it was.
func (a *attempts) spendInputs(ended *process.Ended) {
	if a.spent = a.inputs.Spent(); a.spent == nil && ended.Result.Sent != abi.SentNo {
		a.spent = a.inputs.Passed()
	}
	if ended.Result.OK() || ended.Result.Streamed {
		a.spent = nil
	}
	ended.Result.Streamed = ended.Result.Streamed || a.spent != nil
}

// streamedText is the reason in the policy's sentence, which cannot know of inputs.
const streamedText = "since its output has been passed on"

// explainSpent says in the outcome why there was no further attempt.
func (a *attempts) explainSpent(o *abi.Outcome) *abi.Outcome {
	if o == nil || a.spent == nil || o.Reason != abi.ReasonStreamed {
		return o
	}
	said := *o
	said.Message = strings.Replace(o.Message, streamedText, "since "+a.spent.Error(), 1)
	return &said
}

// tellLeft tells what became of that which an attempt left behind. An attempt
// that could not be ended itself is an error, which is told in the end.
func (a *attempts) tellLeft(ended *process.Ended, err error) {
	if err == nil && ended.Unended != nil {
		a.tell.Notice("%v", ended.Unended)
	}
	if n := ended.HoldersEnded; n == 1 {
		a.tell.Notice("ended 1 process that still held the command's output")
	} else if n > 1 {
		a.tell.Notice("ended %d processes that still held the command's output", n)
	}
	if ended.CutOff {
		a.tell.Notice("another process still holds the command's output; what it prints from now on is lost")
	}
}

func (a *attempts) close() {
	if a.last != nil {
		a.last.Discard()
	}
	a.inputs.Close()
	a.stdin.Close()
}
