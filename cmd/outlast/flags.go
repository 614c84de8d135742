package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"outlast/commands"
	"outlast/host"
	"outlast/plugin/policy"
)

// pluginFlags choose the plugin.
type pluginFlags struct {
	Plugin string `placeholder:"FILE" help:"Use this plugin instead of the one built in."`
}

func (f *pluginFlags) open() (*host.Plugin, error) {
	var opts []host.Option
	if f.Plugin != "" {
		opts = append(opts, host.WithFile(f.Plugin))
	}
	p, err := host.Open(opts...)
	if err != nil {
		return nil, unusable(err)
	}
	return p, nil
}

// callFlags say what a call is.
type callFlags struct {
	Read            bool `xor:"what" help:"It changes nothing, so it may be repeated."`
	Write           bool `xor:"what" help:"It may change something."`
	Remote          bool `xor:"where" help:"It talks to a server over the network."`
	Local           bool `xor:"where" help:"It opens its store itself."`
	SurfaceConflict bool `help:"A lost race ends the call: it compares and swaps."`
	NoConnectRetry  bool `help:"Do not wait for a server that is away."`
}

// call is the call as the flags say, or as guessed where they do not.
func (f *callFlags) call(guess host.Call) host.Call {
	guess.Remote = (guess.Remote || f.Remote) && !f.Local
	guess.Read = (guess.Read || f.Read) && !f.Write
	guess.SurfaceConflict = f.SurfaceConflict
	guess.NoConnectRetry = f.NoConnectRetry
	return guess
}

// loadPolicy is a built-in or bundled policy by its name, or one from a file.
func loadPolicy(nameOrFile string) (*host.Policy, error) {
	if slices.Contains(policy.Names(), nameOrFile) {
		return host.BuiltIn(nameOrFile)
	}
	if text := commands.Policy(nameOrFile); text != "" {
		return host.ParsePolicy(text)
	}
	if _, err := os.Stat(nameOrFile); os.IsNotExist(err) {
		return nil, unusable(fmt.Errorf("policy %s: there is no such file, and no policy of that name (%s)",
			nameOrFile, strings.Join(policyNames(), ", ")))
	}
	p, err := host.ReadPolicy(nameOrFile)
	if err != nil {
		return nil, unusable(err)
	}
	return p, nil
}

// withMaxWait is the policy with another window, if one is given.
func withMaxWait(p *host.Policy, d *time.Duration) (*host.Policy, error) {
	if d == nil {
		return p, nil
	}
	if *d < time.Microsecond {
		return nil, usageError("--max-wait: expected a positive duration such as 150s, not %v", *d)
	}
	changed, err := p.WithMaxWait(*d)
	if err != nil {
		return nil, unusable(err)
	}
	return changed, nil
}
