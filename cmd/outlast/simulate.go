package main

import (
	"context"

	"outlast/cmd/outlast/internal/simulation"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/host"
)

type simulateVerb struct {
	wrap.PluginFlags
	simulation.Flags
}

// Help is shown below the flags.
func (*simulateVerb) Help() string {
	return "Plays a call through an outage, in virtual time, with decisions as run makes them.\n\n" +
		"    outlast simulate --outage 61s --policy omnigraph --policy omnigraph,max-wait=42.5s\n" +
		"    outlast simulate --outage uniform:52s..61s --runs 40000 --policy omnigraph,ready=on\n" +
		"    outlast simulate --outage 60.5s --callers 100000 --capacity 5000 --plot herd.svg"
}

// Run plays what the flags describe.
func (v *simulateVerb) Run(ctx context.Context) error {
	s, err := v.Prepare()
	if err != nil {
		return err
	}
	var opts []host.Option
	if v.Runs > 1 || v.Callers != nil { // whose decisions are compared with the plugin's
		opts = append(opts, host.WithCompiler())
	}
	plug, err := v.OpenPlugin(opts...)
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	if len(opts) > 0 {
		go plug.WarmUp(ctx)
	}
	page, err := s.Play(ctx, plug)
	if err != nil {
		return err
	}
	return toStdout(page)
}
