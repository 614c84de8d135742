package wrap

import (
	"context"
	"errors"
	"os"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/host"
	"outlast/process"
)

// Run is a plan that is carried out.
type Run struct {
	plan     *Plan
	plugin   *host.Plugin
	tell     *telling
	attempts *attempts
	lock     *storeLock
	journal  journalling
	relay    *process.Relay
}

// Prepare makes the plan of a request, and opens what it needs: all that can be
// wrong with outlast's own part is found before the command is started. The error
// is an *exit.Error.
func Prepare(r *Request) (*Run, error) {
	if err := r.Flags.check(); err != nil {
		return nil, err
	}
	seen, err := inspect(r)
	if err != nil {
		return nil, err
	}
	plan, err := MakePlan(r, seen)
	if err != nil {
		return nil, err
	}
	return open(plan)
}

func open(p *Plan) (*Run, error) {
	r := &Run{plan: p, attempts: &attempts{plan: p, argv: p.Argv, env: p.Env}}
	if err := r.open(); err != nil {
		r.attempts.close()
		return nil, err
	}
	return r, nil
}

// open opens last what tells of the run: the events of one that cannot begin
// would have no end.
func (r *Run) open() (err error) {
	p, a := r.plan, r.attempts
	if r.plugin, err = p.Flags.OpenPlugin(); err != nil {
		return err
	}
	if a.stdin, err = process.NewStdin(os.Stdin, process.StdinMode(p.Flags.Stdin)); err != nil {
		return exit.Usage("%v", err)
	}
	if a.inputs, err = process.NewInputs(p.Argv[1:], a.stdin); err != nil {
		return exit.Unusable(err)
	}
	if r.tell, err = newTelling(p); err != nil {
		return exit.Usage("%v", err)
	}
	a.tell = r.tell.Printer
	r.lock = &storeLock{plan: p, tell: a.tell}
	r.journal = journalling{plan: p, tell: a.tell}
	return nil
}

// Close gives back what the run holds. The plugin is not closed: that would wait
// for what it compiles in the background, and the process ends anyway.
func (r *Run) Close() {
	r.tell.Close()
	r.attempts.close()
}

// Execute carries the plan out. The error says which exit code the process ends
// with, and may have been told already.
func (r *Run) Execute(ctx context.Context) error {
	if r.plan.Exec {
		argv, env := withKey(r.plan.Argv, r.plan.Env, r.plan.IdempotencyKey)
		return startError(process.Replace(argv, env))
	}
	return r.tell.error(r.execute(ctx))
}

func (r *Run) execute(ctx context.Context) error {
	// What an attempt leaves behind becomes outlast's to end, where the system has that.
	_ = process.BecomeSubreaper()
	r.relay, ctx = process.NewRelay(ctx, process.RelayOptions{
		KillAfter: orZero(r.plan.Flags.KillAfter), Refused: func(err error) { r.tell.Notice("%v", err) },
	})
	r.attempts.relay, r.tell.ctx = r.relay, ctx
	r.tell.inForce(r.plan)
	if r.plan.Flags.Verbose {
		r.tell.Notice("policy %s; %s", r.plan.Policy.Name(), r.plan.described())
	}
	switch answer, err := r.journal.begin(ctx); {
	case err != nil:
		return r.refuse(err)
	case answer != nil:
		return r.answer(answer)
	}
	r.attempts.prepare(r.lock, r.journal.run, r.journal.key)
	code, err := r.end(r.call(ctx))
	return r.endBySignal(code, codeError(code, err))
}

// endBySignal ends the process by the signal that ended the call, where a shell
// has to see that. The relay is not stopped: giving the signals back takes longer
// than what is left to do.
func (r *Run) endBySignal(code int, err error) error {
	if by := r.relay.EndsBy(r.attempts.last); by != 0 && code == 128+int(by) {
		_ = r.tell.error(err)
		r.Close()
		process.EndBy(by)
	}
	return err
}

// ending is what a call came to.
type ending struct {
	outcome *abi.Outcome
	err     error // why there is no outcome
}

// call makes the call, under the store's lock where it needs that.
func (r *Run) call(ctx context.Context) ending {
	release, err := r.lock.forCall(ctx)
	if err != nil {
		return ending{err: err}
	}
	defer release()
	if r.plan.Nested {
		return r.once(ctx)
	}
	drive := r.plugin.Run
	if r.plan.Flags.Drive == "plugin" {
		drive = r.plugin.RunInPlugin
	}
	outcome, err := drive(ctx, r.journal.under(&host.Task{
		Policy: r.plan.Policy, Call: r.plan.Call, Attempt: r.attempts.attempt, Repair: r.repair, Observe: r.observe,
		Ready: r.plan.Watch.server(), Unwatched: r.plan.Watch.Off, Secrets: r.plan.Secrets,
	}))
	if outcome != nil { // an outcome that is not ok is an error too
		err = nil
	}
	return ending{outcome, err}
}

func (r *Run) observe(e host.Event) {
	r.attempts.observe(e)
	r.tell.observe(e)
}

// once makes the one attempt of a call within another outlast's, which decides
// what is run again.
func (r *Run) once(ctx context.Context) ending {
	result, err := r.attempts.attempt(ctx, 1)
	if err != nil {
		return ending{err: err}
	}
	now := host.SystemClock().Now()
	r.tell.observe(host.AttemptEnded{Attempt: 1, At: now, OK: result.OK(), Result: result})
	o := &abi.Outcome{Type: abi.OutcomeOK, Effects: abi.EffectsNone, Attempts: 1, ElapsedUS: (now - r.plan.Call.Started).Microseconds()}
	if !result.OK() {
		o.Type, o.Kind = abi.OutcomeFailed, kindInside
		if r.plan.writes() {
			o.Type, o.Effects = abi.OutcomeIndeterminate, abi.EffectsUnknown
		}
	}
	r.tell.observe(host.Stopped{Outcome: *o, At: now})
	return ending{outcome: o}
}

// kindInside is the kind of a failure within another outlast, which no policy
// looked at here.
const kindInside = "failed"

// codeError is the error of a call that ends with an exit code.
func codeError(code int, err error) error {
	if code == 0 && err == nil {
		return nil
	}
	return &exit.Error{Code: code, Err: err}
}

// startError is the error of a command that took outlast's place, or could not be
// started.
func startError(err error) error {
	var start *process.StartError
	if errors.As(err, &start) {
		return &exit.Error{Code: start.ExitCode, Err: start}
	}
	return err
}
