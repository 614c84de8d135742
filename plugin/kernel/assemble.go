package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Section numbers and other codes of the WebAssembly binary format, version 1.
const (
	sectionType     = 1
	sectionFunction = 3
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
	sectionCode     = 10

	kindFunction, kindMemory, kindGlobal = 0, 2, 3

	formFunction = 0x60
	opEnd        = 0x0b
)

var valueTypes = map[string]byte{"i32": 0x7f, "i64": 0x7e}

// module is what has been assembled, by section.
type module struct {
	types, functions, memories, globals, exports, bodies [][]byte

	functionNames, globalNames []string
}

// function is one of the module's, taken apart.
type function struct {
	params, results, locals []byte   // their types
	names                   []string // of the parameters and locals
	body                    []node
}

// assemble translates a module. It panics at what it does not know.
func assemble(text string) []byte {
	m := &module{}
	fields := read(text).list[1:]
	for _, field := range fields { // functions may call those that stand below
		switch field.head() {
		case "func":
			m.functionNames = append(m.functionNames, field.list[1].word)
		case "global":
			m.globalNames = append(m.globalNames, field.list[1].word)
		}
	}
	for _, field := range fields {
		m.add(field)
	}
	return m.encode()
}

func fail(n node, what string) { panic(fmt.Sprintf("%s: %v", what, n)) }

// add adds a memory, a global or a function.
func (m *module) add(field node) {
	switch rest := field.list[1:]; field.head() {
	case "memory":
		rest = m.export(rest, kindMemory, len(m.memories))
		const hasMax = 1
		m.memories = append(m.memories, join([]byte{hasMax}, unsigned(number(rest[0])), unsigned(number(rest[1]))))
	case "global":
		rest = m.export(rest[1:], kindGlobal, len(m.globals))
		mutable := rest[0].list[1].word
		start := &code{module: m}
		start.emit(rest[1])
		m.globals = append(m.globals, join([]byte{valueTypes[mutable], 1}, start.bytes, []byte{opEnd}))
	case "func":
		if strings.HasPrefix(rest[0].word, "$") {
			rest = rest[1:]
		}
		m.addFunction(takeApart(m.export(rest, kindFunction, len(m.functions))))
	default:
		fail(field, "unknown")
	}
}

// export exports what begins with (export "name"), and gives what follows it.
func (m *module) export(rest []node, kind byte, index int) []node {
	if rest[0].head() != "export" {
		return rest
	}
	name := strings.Trim(rest[0].list[1].word, `"`)
	m.exports = append(m.exports, join(unsigned(len(name)), []byte(name), []byte{kind}, unsigned(index)))
	return rest[1:]
}

func takeApart(fields []node) *function {
	f := &function{}
	for i, field := range fields {
		kind := valueTypes[field.list[len(field.list)-1].word]
		switch field.head() {
		case "param":
			f.names, f.params = append(f.names, field.list[1].word), append(f.params, kind)
		case "local":
			f.names, f.locals = append(f.names, field.list[1].word), append(f.locals, kind)
		case "result":
			f.results = append(f.results, kind)
		default:
			f.body = fields[i:]
			return f
		}
	}
	return f
}

func (m *module) addFunction(f *function) {
	signature := join([]byte{formFunction}, counted(f.params), counted(f.results))
	index := slices.IndexFunc(m.types, func(t []byte) bool { return slices.Equal(t, signature) })
	if index < 0 {
		index = len(m.types)
		m.types = append(m.types, signature)
	}
	m.functions = append(m.functions, unsigned(index))
	c := &code{module: m, locals: f.names}
	c.emit(f.body...)
	body := join(locals(f.locals), c.bytes, []byte{opEnd})
	m.bodies = append(m.bodies, counted(body))
}

// locals declares the locals: each run of one type with its length.
func locals(types []byte) []byte {
	var runs [][]byte
	for len(types) > 0 {
		n := 1
		for n < len(types) && types[n] == types[0] {
			n++
		}
		runs = append(runs, append(unsigned(n), types[0]))
		types = types[n:]
	}
	return join(unsigned(len(runs)), slices.Concat(runs...))
}

func (m *module) encode() []byte {
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		number  byte
		entries [][]byte
	}{
		{sectionType, m.types}, {sectionFunction, m.functions}, {sectionMemory, m.memories},
		{sectionGlobal, m.globals}, {sectionExport, m.exports}, {sectionCode, m.bodies},
	} {
		content := join(unsigned(len(s.entries)), slices.Concat(s.entries...))
		wasm = join(wasm, []byte{s.number}, counted(content))
	}
	return wasm
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// counted puts a list's length in front of it.
func counted(list []byte) []byte { return join(unsigned(len(list)), list) }

// number is a word as a number.
func number(n node) int {
	v, err := strconv.ParseInt(n.word, 0, 64)
	if err != nil {
		fail(n, "no number")
	}
	return int(v)
}

// unsigned encodes a number in LEB128.
func unsigned(n int) []byte {
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// signed encodes a number in LEB128 whose last byte has the sign.
func signed(n int) []byte {
	var out []byte
	for ; n < -0x40 || n >= 0x40; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n)&0x7f)
}
