// Package kernel gives a plugin the memory that it shares with its host, as
// Extism defines it: the twelve functions of extism:host/env that Go's plugin
// kit imports. They are a WebAssembly module, plugin/kernel.wasm, of which each
// instance of the plugin has one to itself.
//
// What a guest can tell apart from Extism's own kernel, apart from the numbers
// that offsets are (Extism promises nothing about those):
//
//   - An allocation that cannot be met is 0. Extism's kernel overflows from
//     2^48 bytes on and gives an offset whose block is not there. This one also
//     refuses what does not fit into 64 MiB, theirs what exceeds 4 GiB.
//   - A fresh block reads as zeros. Theirs has what its former user left, if
//     it had one: it reuses blocks only when its memory would have to grow.
//   - What lies behind the last block is out of bounds: loads there give 0 and
//     stores do nothing. Theirs go on to the end of its memory, and trap or wrap
//     around where a load straddles that, or the end of the input.
//   - Freeing gives a block's offset to a later block of about the same size.
package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// ModuleName is the module that a plugin imports these functions from.
const ModuleName = "extism:host/env"

// inputFunction is the one function of the module that is for hosts only.
const inputFunction = "input"

// Provided is the function of a compiled kernel that a plugin may import under a
// name; nil if there is none.
func Provided(compiled wazero.CompiledModule, name string) api.FunctionDefinition {
	if name == inputFunction {
		return nil
	}
	return compiled.ExportedFunctions()[name]
}

// Memory is one instance of the kernel. It belongs to one goroutine at a time.
type Memory struct {
	module api.Module

	input, alloc, length api.Function

	output, outputLength, error api.Global
}

// New makes an instance of the compiled kernel.
func New(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule) (*Memory, error) {
	module, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, fmt.Errorf("outlast: making the plugin's memory: %w", err)
	}
	function, global := module.ExportedFunction, module.ExportedGlobal
	return &Memory{
		module: module,
		input:  function(inputFunction), alloc: function("alloc"), length: function("length"),
		output: global("output"), outputLength: global("output_length"), error: global("error"),
	}, nil
}

// Linked is a context in which a plugin is instantiated with this memory.
func (m *Memory) Linked(ctx context.Context) context.Context {
	return experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == ModuleName {
			return m.module
		}
		return nil
	})
}

// Close frees the instance.
func (m *Memory) Close(ctx context.Context) error { return m.module.Close(ctx) }

// Reset forgets everything and takes the next call's input.
func (m *Memory) Reset(input []byte) error {
	if m.put(m.input, input) == 0 && len(input) > 0 {
		return errors.New("outlast: calling the plugin: its input does not fit into its memory")
	}
	return nil
}

// Store allocates a block and fills it; 0 if there is no room or no data.
func (m *Memory) Store(data []byte) uint64 { return m.put(m.alloc, data) }

// put has a function make room for data, and writes it there.
func (m *Memory) put(room api.Function, data []byte) uint64 {
	offset := call(room, uint64(len(data)))
	if offset != 0 {
		m.module.Memory().Write(uint32(offset), data)
	}
	return offset
}

// call calls a function of the kernel; 0 if it traps, as it may once the plugin
// has written where it should not.
func call(f api.Function, argument uint64) uint64 {
	stack := [1]uint64{argument}
	if err := f.CallWithStack(context.Background(), stack[:]); err != nil {
		return 0
	}
	return stack[0]
}

// Block is a copy of the block at the given offset, which must be its first
// byte. What is no block gives nil.
func (m *Memory) Block(offset uint64) []byte {
	return m.copy(offset, call(m.length, offset))
}

// Output is a copy of what the guest set as its output; false if it set
// nothing, nothing of any length, or more than there is.
func (m *Memory) Output() ([]byte, bool) {
	out := m.copy(m.output.Get(), m.outputLength.Get())
	return out, len(out) > 0
}

// Error is a copy of what the guest set as its error; false if it set none.
// As in Extism's kernel, a freed block or one that is empty is no error.
func (m *Memory) Error() ([]byte, bool) {
	out := m.Block(m.error.Get())
	return out, len(out) > 0
}

func (m *Memory) copy(offset, length uint64) []byte {
	if length > uint64(m.module.Memory().Size()) {
		return nil
	}
	view, ok := m.module.Memory().Read(uint32(offset), uint32(length))
	if !ok || length == 0 {
		return nil
	}
	return append([]byte(nil), view...)
}
