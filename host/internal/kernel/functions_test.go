package kernel

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
)

// forwarder is a module that imports all functions of the kernel and exports
// each under the same name, so that a call goes through a guest's stack.
func forwarder() []byte {
	m := &wasmtest.Module{}
	for i, f := range functions {
		m.Types = append(m.Types, wasmfile.FuncType{Params: wasmTypes(f.params), Results: wasmTypes(f.results)})
		m.Imports = append(m.Imports, wasmtest.Import{Module: ModuleName, Name: f.name, Type: uint32(i)})
		var body []byte
		for p := range f.params {
			body = append(body, 0x20, byte(p)) // local.get
		}
		body = append(body, 0x10, byte(i)) // call
		m.Funcs = append(m.Funcs, wasmtest.Func{Type: uint32(i), Body: body})
		m.Exports = append(m.Exports, wasmtest.Export{Name: f.name, Index: uint32(len(functions) + i)})
	}
	return m.Encode()
}

func wasmTypes(types []api.ValueType) []wasmfile.ValueType {
	var out []wasmfile.ValueType
	for _, t := range types {
		out = append(out, wasmfile.ValueType(t))
	}
	return out
}

// fataler is what testing.TB and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// guest calls the kernel's functions from within a guest.
type guest struct {
	module api.Module
	memory *Memory
}

func newGuests(t testing.TB, config wazero.RuntimeConfig, n int) []*guest {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	t.Cleanup(func() { r.Close(ctx) })
	if err := Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	compiled, err := r.CompileModule(ctx, forwarder())
	if err != nil {
		t.Fatal(err)
	}
	guests := make([]*guest, n)
	for i := range guests {
		module, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(fmt.Sprint("guest ", i)))
		if err != nil {
			t.Fatal(err)
		}
		guests[i] = &guest{module: module, memory: &Memory{}}
	}
	return guests
}

// call calls a function; without a result it gives 0.
func (g *guest) call(name string, args ...uint64) (uint64, error) {
	f := g.module.ExportedFunction(name)
	results, err := f.Call(With(context.Background(), g.memory), args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	if f.Definition().ResultTypes()[0] == i32 {
		return uint64(api.DecodeU32(results[0])), nil
	}
	return results[0], nil
}

func (g *guest) must(t fataler, name string, args ...uint64) uint64 {
	t.Helper()
	result, err := g.call(name, args...)
	if err != nil {
		t.Fatalf("%s(%d): %v", name, args, err)
	}
	return result
}

var configs = map[string]wazero.RuntimeConfig{
	"compiler":    wazero.NewRuntimeConfig(),
	"interpreter": wazero.NewRuntimeConfigInterpreter(),
}

func TestFunctionsThroughAGuest(t *testing.T) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			g := newGuests(t, config, 1)[0]
			g.memory.Reset([]byte("12345678\xff"))
			if got := g.must(t, "input_length"); got != 9 {
				t.Errorf("input_length = %d, want 9", got)
			}
			if got := g.must(t, "input_load_u8", 8); got != 0xff {
				t.Errorf("input_load_u8 = %#x, want 0xff", got)
			}
			if got := g.must(t, "input_load_u64", 0); got != 0x3837363534333231 {
				t.Errorf("input_load_u64 = %#x", got)
			}
			a := g.must(t, "alloc", 9)
			g.must(t, "store_u64", a, 0xfedcba9876543210)
			g.must(t, "store_u8", a+8, 0xffffffff_ffffff85) // only the low byte counts
			if got := g.must(t, "load_u64", a+1); got != 0x85fedcba98765432 {
				t.Errorf("load_u64 = %#x", got)
			}
			if got := g.must(t, "load_u8", a+7); got != 0xfe {
				t.Errorf("load_u8 = %#x, want 0xfe", got)
			}
			if got := g.must(t, "length", a); got != 9 {
				t.Errorf("length = %d, want 9", got)
			}
			g.must(t, "output_set", a, 2)
			g.must(t, "error_set", a)
			if out, _ := g.memory.Output(); string(out) != "\x10\x32" {
				t.Errorf("output = %q", out)
			}
			if e, _ := g.memory.Error(); len(e) != 9 {
				t.Errorf("error = %q", e)
			}
			g.must(t, "free", a)
			if got := g.must(t, "length", a); got != 0 {
				t.Errorf("length after free = %d, want 0", got)
			}
		})
	}
}

// TestInstancesShareARuntimeNotMemory runs several instances at once.
func TestInstancesShareARuntimeNotMemory(t *testing.T) {
	guests := newGuests(t, wazero.NewRuntimeConfig(), 8)
	var wg sync.WaitGroup
	for i, g := range guests {
		wg.Go(func() {
			g.memory.Reset([]byte{byte(i)})
			for range 200 {
				a, _ := g.call("alloc", 8)
				g.call("store_u64", a, uint64(i))
				if got, err := g.call("load_u64", a); err != nil || got != uint64(i) {
					t.Errorf("guest %d read %d, %v", i, got, err)
				}
				if got, _ := g.call("input_load_u8", 0); got != uint64(i) {
					t.Errorf("guest %d has the input %d", i, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestFunctionsAreTheTwelve holds the list still: what a host provides is part
// of the contract.
func TestFunctionsAreTheTwelve(t *testing.T) {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
	}
	slices.Sort(names)
	want := []string{
		"alloc", "error_set", "free", "input_length", "input_load_u64", "input_load_u8",
		"length", "load_u64", "load_u8", "output_set", "store_u64", "store_u8",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the functions changed (-want +got):\n%s", diff)
	}
}

func TestInstantiateTwiceIsAnError(t *testing.T) {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	if err := Instantiate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := Instantiate(t.Context(), r); err == nil {
		t.Error("a second module of the same name was accepted")
	}
}

func BenchmarkReadInput64KiB(b *testing.B) {
	g := newGuests(b, wazero.NewRuntimeConfig(), 1)[0]
	g.memory.Reset(make([]byte, 64<<10))
	ctx := With(b.Context(), g.memory)
	load := g.module.ExportedFunction("input_load_u64")
	stack := make([]uint64, 1)
	b.SetBytes(64 << 10)
	for b.Loop() {
		for offset := uint64(0); offset < 64<<10; offset += 8 {
			stack[0] = offset
			if err := load.CallWithStack(ctx, stack); err != nil {
				b.Fatal(err)
			}
		}
	}
}
