package ready

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"outlast/host"
)

// graphs is the policy of the command whose results the tests make up.
var graphs = func() *host.Policy {
	p, err := host.BuiltIn("omnigraph")
	if err != nil {
		panic(err)
	}
	return p
}()

// compiled is shared by the tests: compiling the plugin takes a second or more.
var compiled *host.Plugin

func TestMain(m *testing.M) {
	if address := os.Getenv(serverEnv); address != "" {
		serveProcess(address)
	}
	var err error
	if compiled, err = host.Open(host.WithCompiler()); err != nil {
		panic(err)
	}
	code := m.Run()
	compiled.Close(context.Background())
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}
