package main

import (
	"context"

	"outlast/cmd/outlast/internal/simulation"
	"outlast/cmd/outlast/internal/wrap"
)

type simulateVerb struct {
	wrap.PluginFlags
	simulation.Flags
}

// Help is shown below the flags.
func (*simulateVerb) Help() string {
	return "Plays a call through an outage, in virtual time and with the real plugin.\n\n" +
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
	plug, err := v.OpenPlugin(compiled)
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	page, err := s.Play(ctx, plug)
	if err != nil {
		return err
	}
	return toStdout(page)
}
