package httpattempt_test

import (
	"context"
	"os"
	"testing"

	"outlast/host"
)

// plugin is shared by the tests: loading it takes a second.
var plugin *host.Plugin

func TestMain(m *testing.M) {
	var err error
	if plugin, err = host.Open(host.WithInterpreter()); err != nil {
		panic(err)
	}
	code := m.Run()
	plugin.Close(context.Background())
	os.Exit(code)
}
