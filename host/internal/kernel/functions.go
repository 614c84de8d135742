package kernel

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ModuleName is the module that a plugin imports these functions from.
const ModuleName = "extism:host/env"

// function is one of the kernel's functions. It finds its arguments on the
// stack and leaves its result there.
type function struct {
	name    string
	params  []api.ValueType
	results []api.ValueType
	call    func(m *Memory, stack []uint64)
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// types is a list of types, never nil.
func types(t ...api.ValueType) []api.ValueType { return t }

// functions are all that Go's plugin kit imports.
//
// The upper half of an i32 on the stack is not defined, so those are decoded
// and encoded, never taken as they are.
var functions = []function{
	{"alloc", types(i64), types(i64), func(m *Memory, s []uint64) { s[0] = m.alloc(s[0]) }},
	{"free", types(i64), types(), func(m *Memory, s []uint64) { m.release(s[0]) }},
	{"length", types(i64), types(i64), func(m *Memory, s []uint64) { s[0] = m.length(s[0]) }},
	{"load_u8", types(i64), types(i32), func(m *Memory, s []uint64) { s[0] = api.EncodeU32(uint32(m.loadU8(s[0]))) }},
	{"load_u64", types(i64), types(i64), func(m *Memory, s []uint64) { s[0] = m.loadU64(s[0]) }},
	{"store_u8", types(i64, i32), types(), func(m *Memory, s []uint64) { m.storeU8(s[0], byte(api.DecodeU32(s[1]))) }},
	{"store_u64", types(i64, i64), types(), func(m *Memory, s []uint64) { m.storeU64(s[0], s[1]) }},
	{"input_length", types(), types(i64), func(m *Memory, s []uint64) { s[0] = uint64(len(m.input)) }},
	{"input_load_u8", types(i64), types(i32), func(m *Memory, s []uint64) { s[0] = api.EncodeU32(uint32(m.inputU8(s[0]))) }},
	{"input_load_u64", types(i64), types(i64), func(m *Memory, s []uint64) { s[0] = m.inputU64(s[0]) }},
	{"output_set", types(i64, i64), types(), func(m *Memory, s []uint64) { m.setOutput(s[0], s[1]) }},
	{"error_set", types(i64), types(), func(m *Memory, s []uint64) { m.setError(s[0]) }},
}

// Instantiate adds the kernel's module to a runtime, once for all instances
// there: each call finds its own memory in its context, see With.
func Instantiate(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(ModuleName)
	for _, f := range functions {
		call := f.call
		b.NewFunctionBuilder().
			WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) { call(From(ctx), stack) }), f.params, f.results).
			Export(f.name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("outlast: adding %s to the Wasm runtime: %w", ModuleName, err)
	}
	return nil
}
