package wasmtest

import (
	"slices"

	"outlast/abi"
	"outlast/host/internal/wasmfile"
)

// The types of Plugin, by their index.
const (
	TypeCall   = 0 // () -> i32
	TypeInit   = 1 // () -> ()
	TypeHost   = 2 // (i64) -> i64
	TypeSetter = 3 // (i64, i64) -> ()
)

// TypeExit is proc_exit's type, (i32) -> (), for what is added to Plugin.
var TypeExit = wasmfile.FuncType{Params: []wasmfile.ValueType{wasmfile.I32}}

// Plugin is a small plugin of outlast's ABI: each of its exports sets, as its
// output, a block of one byte and returns 0. It imports alloc, output_set and
// the three host functions.
func Plugin() *Module {
	i32, i64 := wasmfile.I32, wasmfile.I64
	m := &Module{
		Types: []wasmfile.FuncType{
			{Results: []wasmfile.ValueType{i32}},
			{},
			{Params: []wasmfile.ValueType{i64}, Results: []wasmfile.ValueType{i64}},
			{Params: []wasmfile.ValueType{i64, i64}},
		},
		Imports: []Import{
			{Module: "extism:host/env", Name: "alloc", Type: TypeHost},
			{Module: "extism:host/env", Name: "output_set", Type: TypeSetter},
			{Module: abi.UserModule, Name: abi.HostNow, Type: TypeHost},
			{Module: abi.UserModule, Name: abi.HostSleep, Type: TypeHost},
			{Module: abi.UserModule, Name: abi.HostAttempt, Type: TypeHost},
		},
	}
	imported := uint32(len(m.Imports))
	m.Funcs = []Func{
		{Type: TypeInit, Body: []byte{}},
		{Type: TypeCall, Body: answer},
	}
	m.Exports = []Export{{Name: "_initialize", Index: imported}, {Name: abi.ExportMarker, Index: imported}}
	for _, name := range []string{abi.ExportDescribe, abi.ExportCheck, abi.ExportDecide, abi.ExportRun} {
		m.Exports = append(m.Exports, Export{Name: name, Index: imported + 1})
	}
	return m
}

// answer is output_set(alloc(1), 1); return 0.
var answer = []byte{
	0x42, 1, // i64.const 1
	0x10, 0, // call alloc
	0x42, 1, // i64.const 1
	0x10, 1, // call output_set
	0x41, 0, // i32.const 0
}

// Pad makes the module different from all with another n, and bigger: it
// appends n functions that nothing calls.
func (m *Module) Pad(n int) *Module {
	for range n {
		m.Funcs = append(m.Funcs, Func{Type: TypeInit, Body: slices.Repeat([]byte{0x42, 7, 0x1a}, 20)}) // i64.const 7; drop
	}
	return m
}

// Drop removes the export with the given name.
func (m *Module) Drop(export string) *Module {
	m.Exports = slices.DeleteFunc(m.Exports, func(e Export) bool { return e.Name == export })
	return m
}
