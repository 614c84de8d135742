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

func newOnEngine(t *testing.T, mode engine.Mode) onEngine {
	e := engine.New(engine.Options{Wasm: plugin.Wasm, Mode: mode})
	t.Cleanup(func() { e.Close(context.Background()) })
	instance, err := e.NewInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { instance.Close(context.Background()) })
	return onEngine{instance}
}

// The contract's cases, through all doors of the real plugin. The same cases run
// natively in plugin/guest.
func TestConformance(t *testing.T) { conformance.Run(t, newOnEngine(t, engine.Compiler)) }

// The interpreter is forty times slower. It plays each case through one of its
// doors, in turn, and leaves out those that take it seconds.
func TestConformanceInterpreted(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand cases, interpreted")
	}
	cases, err := conformance.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := newOnEngine(t, engine.Interpreter)
	for i := range cases {
		c := &cases[i]
		if c.Slow {
			continue
		}
		if n := len(c.Doors); n > 0 {
			c.Doors = c.Doors[i%n:][:1]
		}
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			for _, problem := range conformance.Check(t.Context(), p, c) {
				t.Error(problem)
			}
		})
	}
}
