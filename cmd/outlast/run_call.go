package main

import (
	"path/filepath"
	"strings"

	"outlast/cmd/outlast/internal/policyflags"
	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/process"
)

// describeCall reads the command line, where the command is called by a name
// that we know. A line that only reads is a read, whatever stands behind the
// name; that a write makes one request is said of the command itself alone. Of
// another command nothing is known, so it is a write unless the caller says
// otherwise.
func (w *wrapped) describeCall() {
	w.identify()
	guess := host.Call{Label: label(w.argv[0]), Remote: true}
	switch w.name {
	case "":
	case "omnigraph":
		inv := omnigraph.Parse(w.argv)
		guess = host.Call{Label: label(inv.Verb), Remote: inv.Remote, Read: !inv.Write}
		w.graph = &inv
		if w.known {
			w.params = inv.Params()
		}
		w.env = omnigraph.Env(w.env, inv, "")
	default:
		w.line = commands.Parse(w.argv, w.lineEnv)
		w.line.Direct = w.line.Direct && w.known
		guess.Read = w.line.Read
	}
	w.call = w.verb.call(guess)
	w.call.Seed = w.verb.Seed
	w.call.Budget = value(w.verb.CallBudget)
	w.call.Started = host.SystemClock().Now()
}

// choosePolicy is the one that is named, or made on the spot, or that fits the
// command.
func (w *wrapped) choosePolicy() error {
	v := w.verb
	w.repeatable = v.Repeatable && !w.call.Read
	if v.Given() {
		return w.makePolicy()
	}
	name := v.Policy
	if name == "" {
		name = policyFor(w.argv[0])
	}
	if name == "" {
		if start := process.Find(w.argv[0]); start != nil {
			return started(start) // whatever its policy would be
		}
		return usageError("run: no policy fits %s, and outlast cannot know what it does. Say --read if it changes nothing, or --repeatable if it may be run again; "+
			"and what to retry: with --retry-exit, --retry-stderr, --attempts or --backoff, or by a --policy. "+
			"Without --read or --repeatable a policy repeats none of its writes. In a script, wrap each command of it instead", w.argv[0])
	}
	p, err := loadPolicy(name)
	if err == nil {
		p, err = withMaxWait(p, v.MaxWait)
	}
	if err != nil {
		return err
	}
	w.policy = p
	w.call.Repeatable = w.repeatable
	w.judge()
	return nil
}

// writes says whether the command may change something, which a repeatable one
// does too.
func (w *wrapped) writes() bool { return !w.call.Read }

// makePolicy makes the one that the flags describe.
func (w *wrapped) makePolicy() error {
	v := w.verb
	if v.Policy != "" {
		return usageError("--policy and %s: the one names a policy, the others make one", strings.Join(v.Names(), ", "))
	}
	if v.NoConnectRetry {
		return usageError("--no-connect-retry and %s: a policy that is made on the spot does not tell failures to connect from others", strings.Join(v.Names(), ", "))
	}
	// A write whose key the server honours is one that may be repeated.
	p, err := v.Flags.Policy(policyflags.Call{Read: w.call.Read || v.isHonoured(), MaxWait: v.MaxWait})
	if err != nil {
		return usageError("%v", err)
	}
	w.policy = p
	w.call.Repeatable = w.repeatable
	return nil
}

// label is a command's name for messages, at most 64 bytes of it (a choice).
func label(command string) string {
	name := filepath.Base(command)
	return strings.ToValidUTF8(name[:min(len(name), 64)], "")
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
