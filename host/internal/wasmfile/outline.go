package wasmfile

import "encoding/binary"

// emptyBody is a function's body, with its size before it, that is right for
// every signature: no local variables, and "unreachable".
var emptyBody = []byte{3, 0, 0x00, 0x0b}

// Outline is a binary without what its functions do, and without its custom
// sections: the same types, imports, functions, memories, data and exports. It
// is what a runtime needs of a plugin whose compiled code it has already, and a
// fraction of the work to read and to validate. Called without that code, each
// of its functions traps. The error is a *FormatError.
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
		switch id {
		case sectionCustom:
		case sectionCode:
			bodies := &reader{data: payload, start: file.at - len(payload), what: "code section"}
			n := bodies.count()
			if bodies.fault != nil {
				return nil, bodies.fault
			}
			out = appendBodies(out, n)
		default:
			out = append(out, wasm[start:file.at]...)
		}
	}
	return out, nil
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
