// Package wrap runs a command, again if need be. A Plan says what is to be done;
// a Run carries it out.
package wrap

import (
	"slices"
	"strings"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/policyflags"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/journal"
	"outlast/process"
)

// Request is what a user asks for.
type Request struct {
	Flags  Flags
	Argv   []string // the command and its arguments, byte for byte
	Env    []string // as os.Environ gives it
	Linked bool     // outlast was called by the command's name: its stores' locks are the caller's, and stderr is the command's alone
}

// Plan says how a command is run. It is data.
type Plan struct {
	Argv        []string
	Env         []string
	Command     Command
	Call        host.Call
	Policy      *host.Policy
	NotFollowed error // as in Seen
	Watch       Watch

	IdempotencyKey string // that the command sends; "": none
	Journal        Journal
	Repeatable     bool     // a write of which the user says that it may be applied again
	Secrets        []string // that no text of outlast's may have

	Flags  Flags // for what they say by themselves: limits, codes, what is told
	Linked bool
	Nested bool // another outlast around this one decides what is run again, and keeps the journal
	Exec   bool // the command replaces outlast's process
}

// Journal is what the journal has of the write.
type Journal struct {
	Dir      string        // "": none is kept
	Target   string        // what the command goes to, as far as it is known
	Honoured time.Duration // how long the server knows the idempotency key, counted from an attempt's end; 0: it does not
}

// Seen is everything outside the request that a plan depends on: the program that
// was found, its policy, the server, the time.
type Seen struct {
	Command     Command
	Missing     error         // why the command cannot be started; asked only where no policy fits it
	Policy      *host.Policy  // that is named, or the command's own; nil: neither
	NotFollowed error         // why it is not the folder's of policy pull; nil: it is, or there is no folder
	Server      string        // that omnigraph goes to; "": none
	NoServer    string        // why Server is empty
	Now         time.Duration // on the host's clock
	Random      string        // a text that no other call has
}

// MakePlan makes the plan of a request. It depends on its arguments only. The
// error is an *exit.Error.
func MakePlan(r *Request, seen *Seen) (*Plan, error) {
	p := &Plan{Argv: r.Argv, Env: r.Env, Command: seen.Command, Flags: r.Flags, Linked: r.Linked}
	if p.Command.Graph != nil {
		p.Env = omnigraph.Env(r.Env, *p.Command.Graph, "")
	}
	p.describeCall(seen.Now)
	p.findOuter(r.Env)
	if err := p.choosePolicy(seen); err != nil {
		return nil, err
	}
	if err := p.chooseKey(&r.Flags.IdempotencyFlags, seen.Random); err != nil {
		return nil, err
	}
	if err := p.chooseWatch(seen); err != nil {
		return nil, err
	}
	p.chooseJournal()
	p.Secrets = secrets(p.Env)
	return p, nil
}

func (p *Plan) describeCall(now time.Duration) {
	p.Call = p.Flags.Call(p.Command.Call(p.Argv[0]))
	p.Call.Seed = p.Flags.Seed
	p.Call.Budget = orZero(p.Flags.CallBudget)
	p.Call.Started = now
	p.Repeatable = p.Flags.Repeatable && p.writes()
	p.Call.Repeatable = p.Repeatable
}

// writes says whether the command may change something, which a repeatable one
// does too.
func (p *Plan) writes() bool { return !p.Call.Read }

// findOuter finds out whether another outlast, around this one, decides what is
// run again. A call with a key that the other one does not hold is a write of its
// own.
func (p *Plan) findOuter(env []string) {
	key, err := journal.Given(p.Flags.JournalKey)
	ownKey := err == nil && p.Flags.Journal != "" && !slices.Contains(held(env), key.ID())
	p.Nested = IsInside(env) && !ownKey
	p.Exec = IsSwitchedOff(env) || p.Nested && !p.Flags.asksMore()
}

// choosePolicy is the one that is named, or made from flags, or that fits the
// command.
func (p *Plan) choosePolicy(seen *Seen) error {
	switch {
	case p.Flags.DescribesPolicy():
		return p.makePolicy()
	case seen.Policy == nil && seen.Missing != nil:
		return startError(seen.Missing) // whatever its policy would be
	case seen.Policy == nil:
		return exit.Usage("run: no policy fits %s, and outlast cannot know what it does. Say --read if it changes nothing, or --repeatable if it may be run again; "+
			"and what to retry: with --retry-exit, --retry-stderr, --attempts or --backoff, or by a --policy. For example:\n"+
			"    outlast run --read --attempts 5 --backoff 1s -- %[1]s\n"+
			"With --policy alone, writes are not repeated. If this is a script, put outlast before the commands inside it", p.Argv[0])
	}
	var err error
	p.NotFollowed = seen.NotFollowed
	p.Policy, err = library.Adjusted(seen.Policy, p.Flags.MaxWait, p.Flags.Spread)
	if err == nil {
		p.judge()
	}
	return err
}

// makePolicy makes the one that the flags describe.
func (p *Plan) makePolicy() (err error) {
	f := &p.Flags
	names := strings.Join(f.Names(), ", ")
	if f.Policy != "" {
		return exit.Usage("--policy and %s: the one names a policy, the others make one", names)
	}
	if f.NoConnectRetry {
		return exit.Usage("--no-connect-retry and %s: a policy that is made from flags does not tell failures to connect from others", names)
	}
	// A write whose key the server honours is one that may be repeated.
	p.Policy, err = f.Flags.Policy(policyflags.Call{Read: p.Call.Read || f.isHonoured(), MaxWait: f.MaxWait, Spread: f.Spread})
	if err != nil {
		return exit.Usage("%v", err)
	}
	return nil
}

// judge says what may be concluded from what an attempt prints. It speaks for
// the whole attempt if the program is a command whose output the policy understands,
// and its line makes one request that can have effects. Without that, nothing that
// is printed makes a write be repeated.
func (p *Plan) judge() {
	switch {
	case p.Call.Read, p.Call.Repeatable:
	case !p.speaksForItself():
		p.Call.OneRequest = new(false)
	default:
		p.Call.OneRequest = p.Command.OneRequest()
	}
}

// speaksForItself says whether the program is a command whose output the policy
// understands.
func (p *Plan) speaksForItself() bool {
	return p.Command.Known && Understands(p.Flags.Policy, p.Policy, library.For(p.Argv[0]))
}

func (p *Plan) chooseJournal() {
	f := &p.Flags
	if f.Journal == "" || !p.writes() || p.Nested {
		return
	}
	p.Journal.Dir = f.Journal
	switch {
	case p.Watch.Target != nil:
		p.Journal.Target = p.Watch.Target.String()
	case p.Command.Graph != nil:
		p.Journal.Target = p.Command.Graph.Store
	}
}

// takesStdin says whether the command gets a standard input.
func (p *Plan) takesStdin() bool { return p.Flags.Stdin != string(process.None) }
