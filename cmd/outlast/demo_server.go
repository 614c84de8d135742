package main

import (
	"io"
	"os"
	"path/filepath"

	"outlast/cmd/outlast/internal/exit"
	"outlast/internal/standin"
)

type demoServerVerb struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"The server's own arguments."`
}

// Run serves until it is stopped or its standard input ends.
func (v *demoServerVerb) Run() error {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the demo is over
	}()
	args := v.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return &exit.Error{Code: standin.ServerMain(args, stdout, os.Stderr)}
}

// demoVar says that this process belongs to a demo, where the tool's link named
// omnigraph is the demo's command.
const demoVar = "OUTLAST_DEMO"

// demoCommand is the command of a demo, if that is what this process is.
func demoCommand(argv []string) (code int, is bool) {
	if os.Getenv(demoVar) == "" || len(argv) == 0 || filepath.Base(argv[0]) != "omnigraph" {
		return 0, false
	}
	return standin.Main(argv[1:], stdout, os.Stderr), true
}
