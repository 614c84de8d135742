package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestModes(t *testing.T) {
	for mode, want := range map[Mode]How{Auto: Interpreted, Compiler: Compiled, Interpreter: Interpreted} {
		e, loaded := open(t, Options{Wasm: small(0), Mode: mode})
		if loaded.How != want || loaded.Why != "" || loaded.Took <= 0 {
			t.Errorf("mode %d: %+v, want %v", mode, loaded, want)
		}
		answer(t, e)
	}
}

func TestLoadIsIdempotent(t *testing.T) {
	var l loads
	e := New(Options{Wasm: small(0), OnLoad: l.add})
	defer e.Close(context.Background())
	for range 3 {
		if err := e.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.one(t)
}

func TestFilesThatAreNoPlugin(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "truncated": guestWasm(t)[:100_000],
	} {
		for _, mode := range []Mode{Auto, Compiler, Interpreter} {
			e := New(Options{Wasm: wasm, Mode: mode})
			err := e.Load(t.Context())
			if err == nil {
				t.Errorf("%s, mode %d: no error", name, mode)
			}
			if again := e.Load(t.Context()); again != err {
				t.Errorf("%s, mode %d: it was loaded again: %v, then %v", name, mode, err, again)
			}
			if _, err := e.NewInstance(t.Context()); err == nil {
				t.Errorf("%s, mode %d: an instance", name, mode)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCancelledLoadIsNotFinal(t *testing.T) {
	for _, mode := range []Mode{Auto, Compiler, Interpreter} {
		e := New(Options{Wasm: small(0), Mode: mode})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Load(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("mode %d: %v", mode, err)
		}
		if err := e.Load(t.Context()); err != nil {
			t.Errorf("mode %d: afterwards: %v", mode, err)
		}
		if err := e.Load(ctx); err != nil {
			t.Errorf("mode %d: once loaded there is nothing to cancel: %v", mode, err)
		}
		e.Close(t.Context())
	}
}

// withoutCompiler makes this system forbid executable memory, as wazero
// answers to that.
func withoutCompiler(t *testing.T) {
	t.Helper()
	before := newCompilerConfig
	newCompilerConfig = func() wazero.RuntimeConfig { panic("mprotect: permission denied") }
	t.Cleanup(func() { newCompilerConfig = before })
}

func TestNoExecutableMemory(t *testing.T) {
	withoutCompiler(t)
	e, loaded := open(t, Options{Wasm: small(0), Mode: Compiler})
	if loaded.How != Interpreted || !strings.Contains(loaded.Why, "permission denied") {
		t.Errorf("%+v", loaded)
	}
	answer(t, e)
}
