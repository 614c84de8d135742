package host_test

import (
	"context"
	"testing"

	"outlast/abi/conformance"
	"outlast/host/internal/engine"
	"outlast/plugin"
)

// onEngine is the real plugin on one instance.
type onEngine struct{ instance *engine.Instance }

func (p onEngine) Call(ctx context.Context, export string, input []byte, h conformance.Host) ([]byte, error) {
	if h == nil {
		return p.instance.Call(ctx, export, input, nil)
	}
	return p.instance.Call(ctx, export, input, h)
}

// The contract's cases, through both doors of the real plugin, compiled and
// interpreted. The same cases run natively in plugin/guest.
func TestConformance(t *testing.T) {
	for _, mode := range []struct {
		name string
		mode engine.Mode
	}{{"compiled", engine.Compiler}, {"interpreted", engine.Interpreter}} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && mode.mode == engine.Interpreter {
				t.Skip("thousands of calls, interpreted")
			}
			ctx := context.Background()
			e := engine.New(engine.Options{Wasm: plugin.Wasm, Mode: mode.mode})
			defer e.Close(ctx)
			instance, err := e.NewInstance(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer instance.Close(ctx)
			conformance.Run(t, onEngine{instance})
		})
	}
}
