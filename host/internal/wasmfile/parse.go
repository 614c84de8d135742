// Package wasmfile reads as much of a WebAssembly binary as it takes to say
// whether it is a plugin: its imports, its exports and their signatures. It
// compiles nothing and runs nothing, so a bad file is named in microseconds,
// before a user's command has started.
//
// Whatever the file holds, reading it ends, is bounded by the file's size, and
// does not panic.
package wasmfile

import (
	"bytes"
	"fmt"
)

// Module is what a binary declares.
type Module struct {
	Types   []FuncType
	Imports []Import
	Funcs   []uint32 // the type of each function that the module defines
	Exports []Export
}

// Import is something that the module wants from its host.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         FuncType // of a function
}

// Export is something that the module offers.
type Export struct {
	Name string
	Kind Kind
	Type FuncType // of a function
}

// Section numbers of the binary format that matter here.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionExport   = 7
	sectionStart    = 8
	sectionCode     = 10
	sectionData     = 11
	sectionCount    = 12 // how many entries the data section has
	sectionLast     = 13
)

var sectionNames = [sectionLast + 1]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export",
	"start", "element", "code", "data", "data count", "tag",
}

var (
	magic     = []byte("\x00asm")
	version   = []byte{1, 0, 0, 0}
	component = []byte{0x0d, 0, 1, 0} // the component model's version and layer
)

// Parse reads a binary. Its errors are of type *FormatError. What it does not
// need (code, data, custom sections) it skips unread.
func Parse(wasm []byte) (*Module, error) {
	sections, err := split(wasm)
	if err != nil {
		return nil, err
	}
	m := &Module{}
	for _, step := range []struct {
		id   int
		read func(*reader)
	}{
		{sectionType, m.readTypes},
		{sectionImport, m.readImports},
		{sectionFunction, m.readFuncs},
		{sectionExport, m.readExports},
	} {
		r, ok := sections[step.id]
		if !ok {
			continue
		}
		step.read(r)
		if err := r.end(); err != nil {
			return nil, err
		}
	}
	return m, m.checkBodies(sections, len(wasm))
}

// split finds the sections, by number, without looking into them.
func split(wasm []byte) (map[int]*reader, error) {
	file := &reader{data: wasm, what: "the file"}
	if err := checkHeader(file); err != nil {
		return nil, err
	}
	sections := map[int]*reader{}
	for file.left() > 0 {
		at := file.at
		id := int(file.byte())
		if id > sectionLast {
			file.at = at
			file.fail("there is no section %d in WebAssembly", id)
			return nil, file.fault
		}
		file.what = sectionNames[id] + " section"
		payload := file.bytes(file.u32())
		if file.fault != nil {
			return nil, file.fault
		}
		if id == sectionCustom {
			continue
		}
		if sections[id] != nil {
			file.at = at
			file.fail("it is there twice")
			return nil, file.fault
		}
		sections[id] = &reader{data: payload, start: file.at - len(payload), what: file.what}
		if err := checkCount(id, *sections[id]); err != nil {
			return nil, err
		}
	}
	return sections, nil
}

// checkCount refuses a section that announces more entries than it has bytes.
// It looks at those too that are skipped: a runtime makes room for as many
// entries as are announced, which can be four thousand million.
func checkCount(id int, section reader) error {
	if id == sectionStart || id == sectionCount {
		return nil // these begin with no count of their own entries
	}
	section.count()
	return section.fault
}

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
	case bytes.Equal(head[4:], component):
		file.fail("it is a component; a core module is needed")
	case !bytes.Equal(head[4:], version):
		file.fail("not a Wasm file of version 1: the version is % x", head[4:])
	}
	file.at = len(head)
	return file.fault
}

// checkBodies notices a file that was cut between two sections: each function
// that it declares, and each announced piece of data, must be there.
func (m *Module) checkBodies(sections map[int]*reader, size int) error {
	missing := func(what string, announced, found uint32) error {
		return &FormatError{Offset: size, Message: fmt.Sprintf(
			"truncated: %d %s are announced, the %s section has %d", announced, what, sectionNames[sectionOf[what]], found)}
	}
	bodies, err := peekCount(sections, sectionCode)
	if err != nil {
		return err
	}
	if declared := uint32(len(m.Funcs)); declared != bodies {
		return missing("functions", declared, bodies)
	}
	pieces, err := peekCount(sections, sectionData)
	if err != nil {
		return err
	}
	announced, err := peekCount(sections, sectionCount)
	if err != nil {
		return err
	}
	if sections[sectionCount] != nil && announced != pieces {
		return missing("pieces of data", announced, pieces)
	}
	return nil
}

var sectionOf = map[string]int{"functions": sectionCode, "pieces of data": sectionData}

// peekCount reads the count that a section begins with; without one it is 0.
func peekCount(sections map[int]*reader, id int) (uint32, error) {
	r, ok := sections[id]
	if !ok {
		return 0, nil
	}
	n := r.u32()
	return n, r.fault
}
