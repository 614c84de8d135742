// Package wasmtest assembles small WebAssembly binaries for tests.
package wasmtest

import "outlast/host/internal/wasmfile"

// Module is what a binary declares; Encode lays it out. The zero value is the
// empty module.
type Module struct {
	Types    []wasmfile.FuncType
	Imports  []Import
	Funcs    []Func
	Memory   *uint32 // its smallest size in pages of 64 KiB
	Exports  []Export
	Sections []byte // put behind the others as they are
}

// Import is one import. Desc is what stands behind the kind for anything but
// a function, in the binary format.
type Import struct {
	Module, Name string
	Kind         wasmfile.Kind
	Type         uint32 // index into Types
	Desc         []byte
}

// Func is a function that the module defines.
type Func struct {
	Type uint32
	Body []byte // instructions without the final end; nil: unreachable
}

// Export is one export.
type Export struct {
	Name  string
	Kind  wasmfile.Kind
	Index uint32
}

const (
	opUnreachable = 0x00
	opEnd         = 0x0b
)

// Encode is the module in the binary format.
func (m *Module) Encode() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = appendList(out, 1, m.Types, appendType)
	out = appendList(out, 2, m.Imports, appendImport)
	out = appendList(out, 3, m.Funcs, func(b []byte, f Func) []byte { return Uint(b, uint64(f.Type)) })
	if m.Memory != nil {
		out = Section(out, 5, Uint([]byte{1, 0}, uint64(*m.Memory)))
	}
	out = appendList(out, 7, m.Exports, func(b []byte, e Export) []byte {
		return Uint(append(Name(b, e.Name), byte(e.Kind)), uint64(e.Index))
	})
	out = appendList(out, 10, m.Funcs, appendBody)
	return append(out, m.Sections...)
}

func appendList[T any](out []byte, id byte, items []T, one func([]byte, T) []byte) []byte {
	if len(items) == 0 {
		return out
	}
	payload := Uint(nil, uint64(len(items)))
	for _, item := range items {
		payload = one(payload, item)
	}
	return Section(out, id, payload)
}

func appendType(b []byte, t wasmfile.FuncType) []byte {
	b = append(b, 0x60)
	for _, list := range [][]wasmfile.ValueType{t.Params, t.Results} {
		b = Uint(b, uint64(len(list)))
		for _, v := range list {
			b = append(b, byte(v))
		}
	}
	return b
}

func appendImport(b []byte, i Import) []byte {
	b = append(Name(Name(b, i.Module), i.Name), byte(i.Kind))
	if i.Kind == wasmfile.Func {
		return Uint(b, uint64(i.Type))
	}
	return append(b, i.Desc...)
}

func appendBody(b []byte, f Func) []byte {
	body := f.Body
	if body == nil {
		body = []byte{opUnreachable}
	}
	b = Uint(b, uint64(len(body)+2)) // no locals, and the end
	b = append(b, 0)
	return append(append(b, body...), opEnd)
}

// Section appends a section with the given number and payload.
func Section(b []byte, id byte, payload []byte) []byte {
	return append(Uint(append(b, id), uint64(len(payload))), payload...)
}

// Name appends a name: its length, then its bytes.
func Name(b []byte, s string) []byte {
	return append(Uint(b, uint64(len(s))), s...)
}

// Uint appends n in unsigned LEB128.
func Uint(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
