package kernel

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"
)

// extism is Extism's own kernel, the Wasm file that Extism's Go SDK embeds.
type extism struct{ functions }

func newExtism(t testing.TB) *extism {
	t.Helper()
	ctx := context.Background()
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/extism/go-sdk")
	cmd.Dir = "../../../hosts/go" // the module that has the SDK
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("finding Extism's Go SDK: %v", err)
	}
	var sdk struct{ Dir string }
	if err := json.Unmarshal(out, &sdk); err != nil {
		t.Fatal(err)
	}
	wasm, err := os.ReadFile(filepath.Join(sdk.Dir, "extism-runtime.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig())
	t.Cleanup(func() { r.Close(ctx) })
	module, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	return &extism{functions{module}}
}

// reset does what Extism's Go SDK does before a call.
func (e *extism) reset(t fataler, input []byte) {
	t.Helper()
	e.must(t, "reset")
	offset := e.must(t, "alloc", uint64(len(input)))
	e.instance.Memory().Write(uint32(offset), input)
	e.must(t, "input_set", offset, uint64(len(input)))
}

// output and error are what Extism's Go SDK reads after a call.
func (e *extism) output(t fataler) string {
	offset, length := e.must(t, "output_offset"), e.must(t, "output_length")
	out, _ := e.instance.Memory().Read(uint32(offset), uint32(length))
	return string(out)
}

func (e *extism) error(t fataler) string {
	offset := e.must(t, "error_get")
	if offset == 0 {
		return ""
	}
	out, _ := e.instance.Memory().Read(uint32(offset), uint32(e.must(t, "length", offset)))
	return string(out)
}

// pair is a block as both kernels have it, and which of its bytes the guest
// has written: the others are zero in ours and anything in theirs.
type pair struct {
	ours, theirs, length uint64
	written              []bool
}

// kernels runs the same operation on both kernels and compares the answers.
type kernels struct {
	t      *rapid.T
	ours   *kernel
	theirs *extism
	input  []byte
	blocks []pair
}

// both compares one call; the offset of each block differs between the two.
func (k *kernels) both(name string, ours, theirs []uint64) {
	k.t.Helper()
	got, err := k.ours.call(name, ours...)
	if err != nil {
		k.t.Fatalf("ours: %s(%d): %v", name, ours, err)
	}
	want, err := k.theirs.call(name, theirs...)
	if err != nil {
		k.t.Fatalf("theirs: %s(%d): %v", name, theirs, err)
	}
	if got != want {
		k.t.Fatalf("%s(%d) = %#x, theirs: %s(%d) = %#x", name, ours, got, name, theirs, want)
	}
}

func (k *kernels) same(name string, args ...uint64) {
	k.t.Helper()
	k.both(name, args, args)
}

// nowhere is an offset that is in no block of either kernel, nor in the few
// bytes around the end of memory, where theirs traps.
func (k *kernels) nowhere() uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 7, 1 << 31, 1 << 32, 1<<32 + 100, 1 << 40, 1 << 63, ^uint64(0) - 100}).Draw(k.t, "nowhere")
}

// some draws a block and an offset within it that leaves room for n bytes.
func (k *kernels) some(n uint64) (int, uint64, bool) {
	if len(k.blocks) == 0 {
		return 0, 0, false
	}
	i := rapid.IntRange(0, len(k.blocks)-1).Draw(k.t, "block")
	if k.blocks[i].length < n {
		return 0, 0, false
	}
	return i, rapid.Uint64Range(0, k.blocks[i].length-n).Draw(k.t, "at"), true
}

func (k *kernels) alloc() {
	length := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(0, 3000), rapid.Just(uint64(100_000))).Draw(k.t, "length")
	p := pair{length: length, written: make([]bool, length)}
	p.ours, p.theirs = k.ours.must(k.t, "alloc", length), k.theirs.must(k.t, "alloc", length)
	if (p.ours == 0) != (length == 0) || (p.theirs == 0) != (length == 0) {
		k.t.Fatalf("alloc(%d) = %d, theirs %d", length, p.ours, p.theirs)
	}
	if length > 0 {
		k.blocks = append(k.blocks, p)
	}
}

func (k *kernels) allocTooMuch() {
	k.same("alloc", rapid.SampledFrom([]uint64{1 << 32, 1 << 33, 1 << 40, 1<<48 - 1<<17}).Draw(k.t, "length"))
}

func (k *kernels) free() {
	if len(k.blocks) == 0 {
		return
	}
	i := rapid.IntRange(0, len(k.blocks)-1).Draw(k.t, "block")
	p := k.blocks[i]
	k.blocks = append(k.blocks[:i:i], k.blocks[i+1:]...)
	k.both("free", []uint64{p.ours}, []uint64{p.theirs})
	k.both("length", []uint64{p.ours}, []uint64{p.theirs})
	if rapid.Bool().Draw(k.t, "twice") {
		k.both("free", []uint64{p.ours}, []uint64{p.theirs})
	}
}

func (k *kernels) freeNothing() {
	if i, at, ok := k.some(2); ok {
		k.both("free", []uint64{k.blocks[i].ours + at + 1}, []uint64{k.blocks[i].theirs + at + 1})
	}
	k.same("free", k.nowhere())
}

func (k *kernels) length() {
	if i, at, ok := k.some(1); ok {
		k.both("length", []uint64{k.blocks[i].ours + at}, []uint64{k.blocks[i].theirs + at})
		k.both("length", []uint64{k.blocks[i].ours}, []uint64{k.blocks[i].theirs})
	}
	k.same("length", k.nowhere())
}

func (k *kernels) store(name string, size uint64) {
	v := rapid.Uint64().Draw(k.t, "value")
	if i, at, ok := k.some(size); ok {
		p := k.blocks[i]
		k.both(name, []uint64{p.ours + at, v}, []uint64{p.theirs + at, v})
		for n := range size {
			p.written[at+n] = true
		}
	}
	if rapid.Bool().Draw(k.t, "astray") {
		if offset := k.nowhere(); offset >= 1<<31 { // below, theirs might hit its own variables
			k.same(name, offset, v)
		}
	}
}

func (k *kernels) load(name string, size uint64) {
	i, at, ok := k.some(size)
	if !ok {
		k.same(name, k.nowhere())
		return
	}
	p := k.blocks[i]
	for n := range size {
		if !p.written[at+n] {
			return
		}
	}
	k.both(name, []uint64{p.ours + at}, []uint64{p.theirs + at})
}

func (k *kernels) loadInput() {
	// From 2^64-8 on, theirs adds the 8 and starts again at 0.
	offset := rapid.OneOf(rapid.Uint64Range(0, uint64(len(k.input))+20), rapid.Uint64Range(0, ^uint64(0)-8)).Draw(k.t, "offset")
	k.same("input_length")
	k.same("input_load_u8", offset)
	k.same("input_load_u64", offset)
}

func (k *kernels) setOutput() {
	if i, at, ok := k.some(1); ok {
		p := k.blocks[i]
		n := uint64(0)
		for at+n < p.length && p.written[at+n] && n < 50 {
			n++
		}
		n = rapid.Uint64Range(0, n).Draw(k.t, "output length")
		k.both("output_set", []uint64{p.ours + at, n}, []uint64{p.theirs + at, n})
	}
	k.same("output_set", k.nowhere(), 5)
	k.compare()
}

func (k *kernels) setError() {
	if i, at, ok := k.some(1); ok {
		p := k.blocks[i]
		k.both("error_set", []uint64{p.ours + at}, []uint64{p.theirs + at})
		k.compareErrorOf(p)
	}
	before, _ := k.ours.Error()
	offset := k.nowhere()
	k.same("error_set", offset)
	got, _ := k.ours.Error()
	if want := k.theirs.error(k.t); len(got) != len(want) || (offset != 0 && string(got) != string(before)) {
		k.t.Fatalf("after error_set(%d) the error has %d bytes, theirs %d", offset, len(got), len(want))
	}
}

// compareErrorOf compares an error that may have bytes which were never written.
func (k *kernels) compareErrorOf(p pair) {
	got, _ := k.ours.Error()
	want := k.theirs.error(k.t)
	if len(got) != len(want) {
		k.t.Fatalf("the error has %d bytes, theirs %d", len(got), len(want))
	}
	for i := range got {
		if p.written[i] && got[i] != want[i] {
			k.t.Fatalf("byte %d of the error is %#x, theirs %#x", i, got[i], want[i])
		}
	}
}

// compare compares what a host reads when a call has ended.
func (k *kernels) compare() {
	got, ok := k.ours.Output()
	want := k.theirs.output(k.t)
	if string(got) != want || ok != (want != "") {
		k.t.Fatalf("the output is %q, %v; theirs %q", got, ok, want)
	}
}

func (k *kernels) compareBlocks() {
	for _, p := range k.blocks {
		for i := range p.length {
			if p.written[i] {
				k.both("load_u8", []uint64{p.ours + i}, []uint64{p.theirs + i})
			}
		}
	}
}

// TestAgreesWithExtism runs random operations, as a guest can call them, on
// this kernel and on Extism's.
func TestAgreesWithExtism(t *testing.T) {
	ours, theirs := newKernel(t, wazero.NewRuntimeConfig()), newExtism(t)
	rapid.Check(t, func(t *rapid.T) {
		k := &kernels{t: t, ours: ours, theirs: theirs, input: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "input")}
		ours.reset(t, k.input)
		theirs.reset(t, k.input)
		operations := []func(){
			k.alloc, k.alloc, k.alloc, k.allocTooMuch, k.free, k.freeNothing, k.length, k.loadInput, k.setOutput, k.setError,
			func() { k.store("store_u8", 1) }, func() { k.store("store_u64", 8) }, func() { k.store("store_u64", 8) },
			func() { k.load("load_u8", 1) }, func() { k.load("load_u64", 8) },
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			operations[rapid.IntRange(0, len(operations)-1).Draw(t, "operation")]()
		}
		k.compareBlocks()
	})
}

// TestKnownDifferencesFromExtism pins each exception that the package names,
// so that a change on either side is noticed.
func TestKnownDifferencesFromExtism(t *testing.T) {
	ours, theirs := newKernel(t, wazero.NewRuntimeConfig()), newExtism(t)
	ours.reset(t, []byte("0123456789abcdef"))
	theirs.reset(t, []byte("0123456789abcdef"))

	for _, length := range []uint64{1 << 48, 1 << 62, 1 << 63, ^uint64(0)} {
		if got, other := ours.must(t, "alloc", length), theirs.must(t, "alloc", length); got != 0 || other == 0 {
			t.Errorf("alloc(%d) = %d, theirs %d; want 0 and an offset", length, got, other)
		}
	}
	theirs.reset(t, []byte("0123456789abcdef"))
	if got, other := ours.must(t, "alloc", maxBytes), theirs.must(t, "alloc", maxBytes); got != 0 || other == 0 {
		t.Errorf("alloc(%d) = %d, theirs %d; want 0 and an offset", maxBytes, got, other)
	}

	const big = 20 << 20 // theirs reuses a block only when it would have to grow else
	for _, k := range []interface {
		must(fataler, string, ...uint64) uint64
	}{ours, theirs} {
		a := k.must(t, "alloc", big)
		k.must(t, "store_u64", a, ^uint64(0))
		k.must(t, "free", a)
	}
	a, b := ours.must(t, "alloc", big), theirs.must(t, "alloc", big)
	if got, other := ours.must(t, "load_u64", a), theirs.must(t, "load_u64", b); got != 0 || other == 0 {
		t.Errorf("a fresh block reads as %#x, theirs %#x; want 0 and what was there", got, other)
	}

	straddling := uint64(theirs.instance.Memory().Size()) - 7
	if got, err := ours.call("load_u64", uint64(ours.module.Memory().Size())-7); got != 0 || err != nil {
		t.Errorf("a load across the end of memory = %d, %v; want 0", got, err)
	}
	if _, err := theirs.call("load_u64", straddling); err == nil {
		t.Error("theirs no longer traps at a load across the end of memory")
	}
	wrapping := ^uint64(0) - 3
	if got, other := ours.must(t, "input_load_u64", wrapping), theirs.must(t, "input_load_u64", wrapping); got != 0 || other == 0 {
		t.Errorf("input_load_u64(2^64-4) = %#x, theirs %#x; want 0 and something", got, other)
	}
}
