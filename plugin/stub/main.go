// Command stub writes outlast-stub.wasm to stdout: a module called
// extism:host/user, whose three functions return 0. Linked in front of
// outlast.wasm, as outlast-stub.json does, it lets tools that cannot give host
// functions load the same file and use everything but run.
package main

import "os"

func main() {
	os.Stdout.Write(module())
}

// Section numbers of the WebAssembly binary format, version 1.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionFunction = 3
	sectionExport   = 7
	sectionCode     = 10
)

var names = []string{"outlast_now", "outlast_sleep", "outlast_attempt"}

func module() []byte {
	const i64, function = 0x7e, 0x60
	exports, bodies, named := []byte{byte(len(names))}, []byte{byte(len(names))}, []byte{byte(len(names))}
	for i, name := range names {
		exports = append(exports, text(name)...)
		exports = append(exports, 0, byte(i)) // a function, by its number
		named = append(append(named, byte(i)), text(name)...)
		bodies = append(bodies, 4, 0, 0x42, 0, 0x0b) // its length, no locals, i64.const 0, end
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = section(m, sectionType, []byte{1, function, 1, i64, 1, i64})
	m = section(m, sectionFunction, []byte{3, 0, 0, 0})
	m = section(m, sectionExport, exports)
	m = section(m, sectionCode, bodies)
	// Extism's Go SDK finds exports by the names of functions in the section for
	// debuggers, whose part 1 that is.
	return section(m, sectionCustom, append(text("name"), append([]byte{1, byte(len(named))}, named...)...))
}

// section appends a section. All lengths here are below 128, so one byte each.
func section(m []byte, number byte, content []byte) []byte {
	return append(append(m, number, byte(len(content))), content...)
}

func text(s string) []byte {
	return append([]byte{byte(len(s))}, s...)
}
