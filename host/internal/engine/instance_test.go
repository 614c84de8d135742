package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"outlast/host/internal/wasmfile/wasmtest"
)

func TestInstancesAreSeparate(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		a, b := newInstance(t, e), newInstance(t, e)
		for n, want := range map[*Instance]string{a: "123", b: "12"} {
			got := ""
			for range want {
				out, err := n.Call(t.Context(), "count", nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				got += string(out)
			}
			if got != want {
				t.Errorf("counted %s, want %s", got, want)
			}
		}
	})
}

func TestInstancesInParallel(t *testing.T) {
	e := sharedEngine(t, Compiler)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			i, err := e.NewInstance(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer i.Close(context.Background())
			for k := range 50 {
				want := fmt.Sprintf("%d.%d", n, k)
				h := &scripted{}
				if out, err := i.Call(context.Background(), "echo", []byte(want), nil); err != nil || string(out) != want {
					t.Errorf("%q, %v; want %q", out, err, want)
				}
				if _, err := i.Call(context.Background(), "run", []byte(want), h); err != nil || h.calls[1] != "sleep "+want {
					t.Errorf("%q, %v", h.calls, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestClosedInstance(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	for range 2 {
		if err := i.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := i.Call(t.Context(), "describe", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a call: %v", err)
	}
}

func TestCloseDuringACallTakesEffectAfterIt(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	h := &scripted{now: func(ctx context.Context) []byte {
		if err := i.Close(ctx); err != nil {
			t.Error(err)
		}
		return []byte("now")
	}}
	out, err := i.Call(t.Context(), "run", []byte("x"), h)
	if err != nil || string(out) != "now\nslept\nattempted" {
		t.Errorf("the call under way: %q, %v", out, err)
	}
	if !i.module.IsClosed() {
		t.Error("the instance was not freed")
	}
}

// TestInitialisationThatFails: a new instance that is no good is no instance.
func TestInitialisationThatFails(t *testing.T) {
	exit := wasmtest.Import{Module: "wasi_snapshot_preview1", Name: "proc_exit", Type: 4}
	for name, test := range map[string]struct {
		body []byte
		want Fault
	}{
		"a trap": {[]byte{0x00}, FaultTrap},
		"exit 1": {[]byte{0x41, 1, 0x10, 5}, FaultExit}, // i32.const 1; call proc_exit
		"exit 0": {[]byte{0x41, 0, 0x10, 5}, FaultExit},
	} {
		t.Run(name, func(t *testing.T) {
			m := wasmtest.Plugin()
			m.Types = append(m.Types, wasmtest.TypeExit)
			m.Imports = append(m.Imports, exit)
			m.Funcs[0].Body = test.body
			for k := range m.Exports {
				m.Exports[k].Index++
			}
			e, _ := open(t, Options{Wasm: m.Encode()})
			i, err := e.NewInstance(t.Context())
			var c *CallError
			if i != nil || !errors.As(err, &c) || c.Fault != test.want || c.Export != "_initialize" {
				t.Errorf("%v, %v; want a CallError of _initialize: %s", i, err, test.want)
			}
		})
	}
}

func TestInitialiseRunsOnce(t *testing.T) {
	// Without _initialize Go's runtime is not there, and nothing works; with a
	// second one it would not either. So this is about a plugin without one.
	e, _ := open(t, Options{Wasm: wasmtest.Plugin().Drop("_initialize").Encode()})
	answer(t, e)
}

func TestMissingImportIsNamed(t *testing.T) {
	m := wasmtest.Plugin()
	m.Imports[3].Name = "outlast_log"
	e, _ := open(t, Options{Wasm: m.Encode()})
	if _, err := e.NewInstance(t.Context()); err == nil || !strings.Contains(err.Error(), "outlast_log") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v", err)
	}
}
