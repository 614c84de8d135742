package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"outlast/host/internal/wasmfile/wasmtest"
)

func TestLoadTellsNoCompilerFromABadFile(t *testing.T) {
	panics := func() wazero.RuntimeConfig { panic("boom") }
	if p, err := load(t.Context(), small(0), panics); p != nil || !errors.Is(err, errNoCompiler) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("no compiler: %v, %v", p, err)
	}
	if p, err := load(t.Context(), []byte("text"), compilerConfig); p != nil || err == nil || errors.Is(err, errNoCompiler) {
		t.Errorf("a bad file: %v, %v", p, err)
	}
}

func TestCompilingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := load(ctx, small(100), compilerConfig); p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", p, err)
	}
}

func TestAPluginThatStartsTooBigIsNotLoaded(t *testing.T) {
	m := wasmtest.Plugin()
	pages := uint32(MemoryLimit/pageBytes) + 1
	m.Memory = &pages
	e := New(Options{Wasm: m.Encode()})
	defer e.Close(t.Context())
	if err := e.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "pages") {
		t.Errorf("error = %v", err)
	}
	*m.Memory--
	fits, _ := open(t, Options{Wasm: m.Encode()})
	answer(t, fits)
}
