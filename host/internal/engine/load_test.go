//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestModes(t *testing.T) {
	for _, test := range []struct {
		mode Mode
		want How
		why  string
	}{
		{Auto, Interpreted, "no cache directory"},
		{Compiler, Compiled, "no cache directory"},
		{Interpreter, Interpreted, ""},
	} {
		e, loaded := open(t, Options{Wasm: small(0), Mode: test.mode})
		if loaded.How != test.want || !strings.Contains(loaded.Why, test.why) || (test.why == "") != (loaded.Why == "") {
			t.Errorf("mode %d: %+v, want %v because of %q", test.mode, loaded, test.want, test.why)
		}
		if loaded.Took <= 0 {
			t.Errorf("mode %d took %v", test.mode, loaded.Took)
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
			dir := cacheDir(t)
			e := New(Options{Wasm: wasm, Mode: mode, CacheDir: dir})
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
	wasm, dir := small(0), cacheDir(t)
	fill(t, wasm, dir)
	before := listing(t, dir)
	withoutCompiler(t)
	for _, mode := range []Mode{Auto, Compiler} {
		for _, wasm := range [][]byte{wasm, small(1)} {
			e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir, Mode: mode})
			if loaded.How != Interpreted || loaded.Why == "" {
				t.Errorf("mode %d: %+v", mode, loaded)
			}
			answer(t, e)
		}
	}
	if err := fillError(t, small(1), dir); !errors.Is(err, errNoCompiler) {
		t.Errorf("filling the cache: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the cache changed from\n%s\nto\n%s", before, after)
	}
}

// fillError fills the cache and gives what became of that.
func fillError(t testing.TB, wasm []byte, dir string) error {
	t.Helper()
	filled := make(chan Filled, 1)
	e, _ := open(t, Options{Wasm: wasm, CacheDir: dir, OnFill: func(f Filled) { filled <- f }})
	e.FillCache()
	return (<-filled).Err
}

func init() {
	helpers["load"] = func() int {
		e := New(Options{Wasm: small(0), CacheDir: os.Getenv("OUTLAST_ENGINE_TEST_DIR"), OnLoad: func(l Loaded) {
			os.Stdout.WriteString(l.How.String() + ": " + l.Why)
		}})
		if err := e.Load(context.Background()); err != nil {
			os.Stdout.WriteString(err.Error())
			return 1
		}
		return 0
	}
}

// TestAnotherProcessorsCode: code compiled with an instruction is not found by
// a process that believes to be without it.
func TestAnotherProcessorsCode(t *testing.T) {
	dir := cacheDir(t)
	fill(t, small(0), dir)
	before := listing(t, dir)
	for variable, want := range map[string]string{
		"GODEBUG=": "cached: ",
		// These turn off what the processor has, and matter on amd64 and arm64 each.
		"GODEBUG=cpu.bmi1=off,cpu.atomics=off": "interpreted: the cache has no code for this plugin yet",
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), helperVariable+"=load", "OUTLAST_ENGINE_TEST_DIR="+dir, variable)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(string(out), want) {
			t.Errorf("%s: %s, %v; want %q", variable, out, err, want)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the cache changed from\n%s\nto\n%s", before, after)
	}
}
