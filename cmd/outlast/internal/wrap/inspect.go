package wrap

import (
	"crypto/rand"

	"outlast/cmd/outlast/internal/library"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/process"
	"outlast/ready"
)

// inspect finds out what a plan depends on beside the request. The error is an
// *exit.Error.
func inspect(r *Request) (*Seen, error) {
	f := &r.Flags
	if err := checkWrappers(f.Wrapper); err != nil {
		return nil, err
	}
	seen := &Seen{Command: recognise(r.Argv, r.Env, f.Wrapper), Now: host.SystemClock().Now()}
	if !f.DescribesPolicy() {
		if err := seen.findPolicy(f.PolicyDir, f.Policy, r.Argv[0]); err != nil {
			return nil, err
		}
	}
	if f.IdempotencyKey.On {
		seen.Random = rand.Text()
	}
	if g := seen.Command.Graph; g != nil && !namesTarget(f.Ready) {
		seen.Server, seen.NoServer = omnigraph.Server(r.Argv, omnigraph.Env(r.Env, *g, ""))
	}
	return seen, nil
}

// findPolicy loads the policy that is named, or the command's own. Where there
// is neither, it sees whether the command can be started at all.
func (s *Seen) findPolicy(dir, name, argv0 string) (err error) {
	if name == "" {
		name = library.For(argv0)
	}
	if name == "" {
		s.Missing = process.Find(argv0)
		return nil
	}
	s.Policy, s.NotFollowed, err = library.LoadFollowed(dir, name)
	return err
}

// namesTarget says whether --ready names what to watch.
func namesTarget(flag string) bool {
	choice, err := ready.Parse(flag)
	return err == nil && choice.Target != nil
}
