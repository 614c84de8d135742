package engine

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"outlast/host/internal/engine/testguest"
	"outlast/host/internal/wasmfile/wasmtest"
)

// helpers are what this test binary does when a test starts it again, by the
// name in the environment.
var helpers = map[string]func() int{}

const helperVariable = "OUTLAST_ENGINE_TEST_HELPER"

func TestMain(m *testing.M) {
	if helper, ok := helpers[os.Getenv(helperVariable)]; ok {
		os.Exit(helper())
	}
	if _, err := testguest.Build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, e := range shared {
		e.Close(context.Background())
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func guestWasm(t testing.TB) []byte {
	t.Helper()
	wasm, err := testguest.Build()
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

var (
	sharedLock sync.Mutex
	shared     = map[Mode]*Engine{}
)

// sharedEngine has the guest loaded, for all tests.
func sharedEngine(t testing.TB, mode Mode) *Engine {
	t.Helper()
	sharedLock.Lock()
	defer sharedLock.Unlock()
	e, ok := shared[mode]
	if !ok {
		e = New(Options{Wasm: guestWasm(t), Mode: mode})
		shared[mode] = e
	}
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// bothWays runs a test with the guest compiled and interpreted.
func bothWays(t *testing.T, test func(t *testing.T, e *Engine)) {
	for name, mode := range map[string]Mode{"compiled": Compiler, "interpreted": Interpreter} {
		t.Run(name, func(t *testing.T) { test(t, sharedEngine(t, mode)) })
	}
}

func newInstance(t testing.TB, e *Engine) *Instance {
	t.Helper()
	i, err := e.NewInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

// small is a plugin that compiles in milliseconds, and takes its time to if it
// is padded.
func small(padding int) []byte { return wasmtest.Plugin().Pad(padding).Encode() }

// loads collects what OnLoad is told.
type loads struct {
	mu   sync.Mutex
	list []Loaded
}

func (l *loads) add(loaded Loaded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, loaded)
}

// one is the only load.
func (l *loads) one(t testing.TB) Loaded {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) != 1 {
		t.Fatalf("OnLoad was called %d times: %v", len(l.list), l.list)
	}
	return l.list[0]
}

// open makes an engine and loads it.
func open(t testing.TB, opts Options) (*Engine, Loaded) {
	t.Helper()
	var l loads
	opts.OnLoad = l.add
	e := New(opts)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e, l.one(t)
}

// answer makes one call, to see that an engine works.
func answer(t testing.TB, e *Engine) {
	t.Helper()
	i := newInstance(t, e)
	if _, err := i.Call(t.Context(), "describe", nil, nil); err != nil {
		t.Error(err)
	}
}
