package main

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/config"
)

// ofOneCall are flags that are no settings, each with the reason.
var ofOneCall = map[string]string{
	"idempotency-key": "two writes must not share one; its variable is what the command gets",
}

// Each flag of run is a setting, or says that it is none, and each setting is a
// flag: one that is forgotten would be an unknown key to its user.
func TestSettingsAreTheFlagsOfRun(t *testing.T) {
	var c struct {
		Run runVerb `cmd:""`
	}
	parser, err := kong.New(&c, kong.NoDefaultHelp())
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, flag := range parser.Model.Children[0].Flags {
		flags = append(flags, flag.Name)
		if !slices.Contains(config.Names(), flag.Name) && ofOneCall[flag.Name] == "" {
			t.Errorf("--%s is no setting", flag.Name)
		}
	}
	for _, name := range config.Names() {
		if name != "rules" && !slices.Contains(flags, name) { // that one is policy pull's
			t.Errorf("the setting %s is no flag", name)
		}
	}
}
