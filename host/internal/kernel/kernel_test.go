package kernel

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	"outlast/plugin"
)

const (
	maxBytes    = 64 << 20 // of memory
	firstOffset = 24       // of a block
)

// fataler is what testing.TB and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// functions are those of a module, to be called as a guest calls them.
type functions struct{ instance api.Module }

// call calls a function; without a result it gives 0.
func (f functions) call(name string, args ...uint64) (uint64, error) {
	function := f.instance.ExportedFunction(name)
	results, err := function.Call(context.Background(), args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	if function.Definition().ResultTypes()[0] == api.ValueTypeI32 {
		return uint64(api.DecodeU32(results[0])), nil
	}
	return results[0], nil
}

func (f functions) must(t fataler, name string, args ...uint64) uint64 {
	t.Helper()
	result, err := f.call(name, args...)
	if err != nil {
		t.Fatalf("%s(%d): %v", name, args, err)
	}
	return result
}

// kernel is an instance as its host has it, and as a guest has it.
type kernel struct {
	*Memory
	functions
}

func newKernel(t testing.TB, config wazero.RuntimeConfig) *kernel {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	t.Cleanup(func() { r.Close(ctx) })
	compiled, err := r.CompileModule(ctx, plugin.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(ctx, r, compiled)
	if err != nil {
		t.Fatal(err)
	}
	return &kernel{m, functions{m.module}}
}

func (k *kernel) reset(t fataler, input []byte) {
	t.Helper()
	if err := k.Reset(input); err != nil {
		t.Fatalf("%v", err)
	}
}

// store is Store, which must succeed.
func (k *kernel) store(t fataler, data []byte) uint64 {
	t.Helper()
	offset := k.Store(data)
	if offset == 0 {
		t.Fatalf("there is no room for %d bytes", len(data))
	}
	return offset
}

// bothWays runs a test with a fresh kernel, compiled and interpreted.
func bothWays(t *testing.T, test func(t *testing.T, k *kernel)) {
	for name, config := range map[string]wazero.RuntimeConfig{
		"compiler": wazero.NewRuntimeConfig(), "interpreter": wazero.NewRuntimeConfigInterpreter(),
	} {
		t.Run(name, func(t *testing.T) { test(t, newKernel(t, config)) })
	}
}

// The list of what a guest may import stays: it is part of the contract. Behind it
// stands what hosts use.
func TestExports(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	compiled, err := r.CompileModule(ctx, plugin.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	var provided, other []string
	for _, name := range slices.Sorted(maps.Keys(compiled.ExportedFunctions())) {
		if Provided(compiled, name) == nil {
			other = append(other, name)
			continue
		}
		provided = append(provided, name)
	}
	want := []string{
		"alloc", "error_set", "free", "input_length", "input_load_u64", "input_load_u8",
		"length", "load_u64", "load_u8", "output_set", "store_u64", "store_u8",
	}
	if diff := cmp.Diff(want, provided); diff != "" {
		t.Errorf("the functions changed (-want +got):\n%s", diff)
	}
	if !slices.Equal(other, []string{inputFunction}) {
		t.Errorf("besides there are %v", other)
	}
}

func TestAllocEdges(t *testing.T) {
	bothWays(t, func(t *testing.T, k *kernel) {
		for _, length := range []uint64{0, maxBytes, maxBytes + 1, 1 << 32, 1<<32 + 1, 1 << 40, 1 << 62, 1 << 63, 1<<63 + 100, ^uint64(0)} {
			if got := k.must(t, "alloc", length); got != 0 {
				t.Errorf("alloc(%d) = %d, want 0", length, got)
			}
		}
		a, b := k.must(t, "alloc", 13), k.must(t, "alloc", 1)
		if a != firstOffset || b <= a {
			t.Fatalf("alloc gave %d and %d", a, b)
		}
		if got := k.must(t, "length", a); got != 13 {
			t.Errorf("length = %d, want 13", got)
		}
		for _, offset := range []uint64{0, 8, 16, a + 1, a - 8, b - 1, b + 1, 1<<32 + a, 1 << 40, ^uint64(0)} {
			if got := k.must(t, "length", offset); got != 0 {
				t.Errorf("length(%d) = %d, want 0: it is no block", offset, got)
			}
		}
	})
}

func TestAllocIsBoundedAndRecovers(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	var offsets []uint64
	for offset := k.must(t, "alloc", 1<<20); offset != 0; offset = k.must(t, "alloc", 1<<20) {
		offsets = append(offsets, offset)
	}
	if got := len(offsets); got != maxBytes>>20-1 { // the headers take the last one's room
		t.Errorf("%d blocks of 1 MiB fitted, want %d", got, maxBytes>>20-1)
	}
	k.must(t, "free", offsets[5])
	if got := k.must(t, "alloc", 1<<20); got != offsets[5] {
		t.Errorf("alloc after free = %d, want the freed %d", got, offsets[5])
	}
	if got := k.must(t, "alloc", 1<<20); got != 0 {
		t.Errorf("alloc when full = %d, want 0", got)
	}
	if err := k.Reset(make([]byte, maxBytes)); err == nil {
		t.Error("an input that does not fit was taken")
	}
	k.reset(t, make([]byte, 20<<20))
}

func TestFreedBlocksAreReusedClean(t *testing.T) {
	bothWays(t, func(t *testing.T, k *kernel) {
		a := k.store(t, []byte("0123456789abcdef"))
		k.must(t, "free", a+1) // no block: left alone
		if got := string(k.Block(a)); got != "0123456789abcdef" {
			t.Fatalf("block = %q after freeing a sub-offset", got)
		}
		k.must(t, "free", a)
		k.must(t, "free", a) // twice
		if got := k.Block(a); got != nil {
			t.Errorf("a freed block = %q, want nothing", got)
		}
		b, c := k.must(t, "alloc", 9), k.must(t, "alloc", 9)
		if b != a || c == a {
			t.Errorf("alloc gave %d and %d, want the freed %d once", b, c, a)
		}
		if got := k.Block(b); !bytes.Equal(got, make([]byte, 9)) {
			t.Errorf("a reused block reads as %q, want zeros", got)
		}
	})
}

// TestManyAttempts is what run does: one block an attempt, freed when it has
// been read. Memory must not grow with their number.
func TestManyAttempts(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	for i := range 10_000 {
		k.must(t, "free", k.store(t, bytes.Repeat([]byte{byte(i)}, 60<<10+i%100)))
	}
	if got := k.module.Memory().Size(); got > 1<<20 {
		t.Errorf("memory grew to %d bytes", got)
	}
}

func TestBoundsOfLoadsAndStores(t *testing.T) {
	bothWays(t, func(t *testing.T, k *kernel) {
		a := k.store(t, bytes.Repeat([]byte{0xff}, 8))
		end := a + 8
		for _, offset := range []uint64{0, 1, 15, end - 7, end, 65529, 65536, 1<<32 - 1, 1 << 32, 1<<32 + a, ^uint64(0), ^uint64(0) - 6} {
			k.must(t, "store_u64", offset, 1)
			if got := k.must(t, "load_u64", offset); got != 0 {
				t.Errorf("load_u64(%d) = %#x, want 0", offset, got)
			}
		}
		for _, offset := range []uint64{0, 15, end, 65536, 1 << 32, 1<<32 + a, ^uint64(0)} {
			k.must(t, "store_u8", offset, 1)
			if got := k.must(t, "load_u8", offset); got != 0 {
				t.Errorf("load_u8(%d) = %#x, want 0", offset, got)
			}
		}
		if got := k.must(t, "load_u64", a); got != ^uint64(0) {
			t.Errorf("a store out of bounds changed the block to %#x", got)
		}
		k.must(t, "store_u8", a+7, 0xffffffff_ffffff12) // only the low byte counts
		if got, want := k.must(t, "load_u64", a), uint64(0x12ffffffffffffff); got != want {
			t.Errorf("load_u64 = %#x, want %#x", got, want)
		}
	})
}

// Before the first input, while a guest initialises itself, there is no block.
func TestBoundsWithoutBlocks(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	for _, offset := range []uint64{0, 8, 9, 15, 16, 24, ^uint64(0)} {
		k.must(t, "store_u64", offset, ^uint64(0))
		k.must(t, "store_u8", offset, 255)
		if k.must(t, "load_u64", offset) != 0 || k.must(t, "load_u8", offset) != 0 {
			t.Errorf("something is at %d", offset)
		}
	}
	if got := k.must(t, "input_load_u64", 0); got != 0 {
		t.Errorf("the input begins with %#x", got)
	}
}

// A guest that writes over the headers harms itself only.
func TestOverwrittenHeaders(t *testing.T) {
	bothWays(t, func(t *testing.T, k *kernel) {
		for _, header := range []uint64{0, 1, 31, 32, 63, 1 << 31, 1<<32 - 1} {
			k.reset(t, []byte("input"))
			a := k.store(t, []byte("12345678"))
			k.store(t, []byte("behind"))
			k.must(t, "store_u64", a-8, header<<32|header)
			for range 10 {
				k.call("alloc", 1000) // ends, whatever it gives
				k.call("length", a)
				k.call("free", a)
			}
			k.reset(t, []byte("next"))
			if b := k.store(t, []byte("as new")); string(k.Block(b)) != "as new" {
				t.Errorf("%#x: the next call has %q", header, k.Block(b))
			}
		}
	})
}

func TestInput(t *testing.T) {
	bothWays(t, func(t *testing.T, k *kernel) {
		for _, input := range []string{"", "1234567", "0123456789"} {
			k.reset(t, []byte(input))
			n := uint64(len(input))
			if got := k.must(t, "input_length"); got != n {
				t.Errorf("%q: input_length = %d", input, got)
			}
			for _, offset := range []uint64{0, 9, 10, 1 << 32, 1 << 63, ^uint64(0)} {
				want := uint64(0)
				if offset < n {
					want = uint64(input[offset])
				}
				if got := k.must(t, "input_load_u8", offset); got != want {
					t.Errorf("%q: input_load_u8(%d) = %d, want %d", input, offset, got, want)
				}
			}
			for _, offset := range []uint64{2, 3, 10, 11, 1 << 32, 1 << 63, ^uint64(0) - 3, ^uint64(0)} {
				want := uint64(0)
				if n == 10 && offset == 2 {
					want = 0x3938373635343332
				}
				if got := k.must(t, "input_load_u64", offset); got != want {
					t.Errorf("%q: input_load_u64(%d) = %#x, want %#x", input, offset, got, want)
				}
			}
		}
	})
}

func TestOutput(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	if out, ok := k.Output(); ok {
		t.Fatalf("output = %q before any was set", out)
	}
	a := k.store(t, []byte("0123456789"))
	room := uint64(16)
	rest := uint64(k.module.Memory().Size()) - a
	for _, s := range []struct {
		offset, length uint64
		want           string // "" for none
	}{
		{a, 10, "0123456789"},
		{a + 3, 4, "3456"},
		{0, 5, "3456"}, // out of bounds: the old output stays
		{1 << 40, 5, "3456"},
		{a + room, 1, "3456"},
		{a, room, "0123456789" + string(make([]byte, room-10))}, // its length is not checked against the block
		{a, rest + 1, ""}, // but against the memory
		{a, 1 << 32, ""},
		{a, ^uint64(0), ""},
		{a, 0, ""},
		{a + 9, 1, "9"},
	} {
		k.must(t, "output_set", s.offset, s.length)
		out, ok := k.Output()
		if string(out) != s.want || ok != (s.want != "") {
			t.Errorf("after output_set(%d, %d) the output is %q, %v; want %q", s.offset, s.length, out, ok, s.want)
		}
	}
	out, _ := k.Output()
	k.must(t, "store_u8", a+9, 'x')
	if string(out) != "9" {
		t.Error("the output is not a copy")
	}
}

func TestError(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	a := k.store(t, []byte("went wrong"))
	for _, s := range []struct {
		offset uint64
		want   string
	}{{a, "went wrong"}, {1 << 40, "went wrong"}, {a + 1, ""}, {a, "went wrong"}, {0, ""}} {
		k.must(t, "error_set", s.offset)
		if got, ok := k.Error(); string(got) != s.want || ok != (s.want != "") {
			t.Errorf("after error_set(%d) the error is %q, %v; want %q", s.offset, got, ok, s.want)
		}
	}
	k.must(t, "error_set", a)
	k.must(t, "free", a)
	if got, ok := k.Error(); ok {
		t.Errorf("the error is %q although its block was freed", got)
	}
}

func TestResetForgets(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	k.reset(t, []byte("input"))
	a := k.store(t, []byte("secret"))
	k.must(t, "output_set", a, 6)
	k.must(t, "error_set", a)
	k.reset(t, nil)
	if _, ok := k.Output(); ok {
		t.Error("the output survived")
	}
	if _, ok := k.Error(); ok {
		t.Error("the error survived")
	}
	if k.must(t, "input_length") != 0 || k.must(t, "length", a) != 0 || k.must(t, "load_u8", a) != 0 {
		t.Error("a block survived")
	}
	for range 3 {
		if b := k.must(t, "alloc", 6); !bytes.Equal(k.Block(b), make([]byte, 6)) {
			t.Errorf("a fresh block reads as %q", k.Block(b))
		}
	}
}

// TestBlocksNeverOverlap allocates and frees at random and checks that each
// live block keeps its contents.
func TestBlocksNeverOverlap(t *testing.T) {
	k := newKernel(t, wazero.NewRuntimeConfig())
	rapid.Check(t, func(t *rapid.T) {
		k.reset(t, nil)
		live := map[uint64][]byte{}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				for offset := range live {
					k.must(t, "free", offset)
					delete(live, offset)
					break
				}
				continue
			}
			data := bytes.Repeat([]byte{byte(i + 1)}, rapid.IntRange(1, 5000).Draw(t, "length"))
			offset := k.store(t, data)
			if _, taken := live[offset]; taken {
				t.Fatalf("Store gave the offset %d twice", offset)
			}
			live[offset] = data
		}
		for offset, data := range live {
			if diff := cmp.Diff(data, k.Block(offset)); diff != "" {
				t.Fatalf("block %d changed (-want +got):\n%s", offset, diff)
			}
		}
	})
}
