package policyflags

import (
	"context"
	"os"
	"testing"

	"outlast/host"
)

// plugin is shared by the tests: compiling it takes a second or more.
var plugin *host.Plugin

func TestMain(m *testing.M) {
	var err error
	if plugin, err = host.Open(host.WithCompiler()); err != nil {
		panic(err)
	}
	code := m.Run()
	plugin.Close(context.Background())
	os.Exit(code)
}
