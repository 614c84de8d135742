// Package wasmfile makes the outline of a WebAssembly binary. Whatever the file
// holds, that ends, is bounded by the file's size, and does not panic.
package wasmfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Sections of the binary format that matter here, by their number.
const (
	sectionCustom = 0
	sectionStart  = 8
	sectionCode   = 10
	sectionCount  = 12 // how many entries the data section has
)

// emptyBody is a function's body, with its size before it, that is right for
// every signature: no local variables, and "unreachable".
var emptyBody = []byte{3, 0, 0x00, 0x0b}

// Outline is a binary without what its functions do, and without its custom
// sections: the same types, imports, functions, memories, data and exports. It
// is what a runtime needs to say whether it could run a plugin, and a fraction of
// the work to read and to validate. The error is a *FormatError.
func Outline(wasm []byte) ([]byte, error) {
	file := &reader{data: wasm, what: "the file"}
	if err := checkHeader(file); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(wasm)/2), wasm[:file.at]...)
	for file.left() > 0 {
		start := file.at
		id := file.byte()
		payload := file.bytes(file.u32())
		if file.fault != nil {
			return nil, file.fault
		}
		entries := &reader{data: payload, start: file.at - len(payload), what: fmt.Sprintf("section %d", id)}
		switch id {
		case sectionCustom:
		case sectionCode:
			out = appendBodies(out, entries.count())
		case sectionStart, sectionCount: // they begin with no count of their own entries
			out = append(out, wasm[start:file.at]...)
		default:
			// A runtime makes room for as many entries as a damaged file announces.
			entries.count()
			out = append(out, wasm[start:file.at]...)
		}
		if entries.fault != nil {
			return nil, entries.fault
		}
	}
	return out, nil
}

var (
	magic   = []byte("\x00asm")
	version = []byte{1, 0, 0, 0}
)

func checkHeader(file *reader) error {
	head := file.data[:min(len(file.data), 8)]
	start := head[:min(len(head), 4)]
	switch {
	case len(head) == 0:
		file.fail("it is empty")
	case !bytes.HasPrefix(magic, start):
		file.fail("not a Wasm file: it starts with %q, not with %q", start, magic)
	case len(head) < 8:
		file.at = len(head)
		file.fail("truncated: the first 8 bytes are not complete")
	case !bytes.Equal(head[4:], version):
		file.fail("not a Wasm file of version 1: the version is % x", head[4:])
	}
	file.at = len(head)
	return file.fault
}

// appendBodies adds a code section of n empty bodies.
func appendBodies(out []byte, n uint32) []byte {
	count := binary.AppendUvarint(nil, uint64(n)) // the same as LEB128
	out = append(out, sectionCode)
	out = binary.AppendUvarint(out, uint64(len(count))+uint64(n)*uint64(len(emptyBody)))
	out = append(out, count...)
	for range n {
		out = append(out, emptyBody...)
	}
	return out
}
