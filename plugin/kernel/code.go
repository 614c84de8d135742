package main

import (
	"slices"
	"strings"
)

// plain are the instructions that take their operands from the stack, and no more.
var plain = map[string][]byte{
	"unreachable": {0x00}, "return": {0x0f},
	"memory.size": {0x3f, 0}, "memory.grow": {0x40, 0}, "memory.fill": {0xfc, 0x0b, 0},
	"i32.eqz": {0x45}, "i32.eq": {0x46}, "i32.ne": {0x47}, "i32.le_s": {0x4c}, "i32.ge_u": {0x4f},
	"i64.eqz": {0x50}, "i64.eq": {0x51}, "i64.lt_s": {0x53}, "i64.gt_s": {0x55}, "i64.le_u": {0x58}, "i64.ge_u": {0x5a},
	"i32.clz": {0x67}, "i32.add": {0x6a}, "i32.sub": {0x6b}, "i32.and": {0x71}, "i32.or": {0x72},
	"i32.shl": {0x74}, "i32.shr_u": {0x76}, "i64.add": {0x7c}, "i64.sub": {0x7d},
	"i32.wrap_i64": {0xa7}, "i64.extend_i32_u": {0xad},
}

// accesses are the instructions that read or write memory: their code, and the
// binary logarithm of the alignment that the text format means if it says none.
var accesses = map[string][]byte{
	"i32.load": {0x28, 2}, "i64.load": {0x29, 3}, "i32.load8_u": {0x2d, 0}, "i64.load32_u": {0x35, 2},
	"i32.store": {0x36, 2}, "i64.store": {0x37, 3}, "i32.store8": {0x3a, 0},
}

const (
	opBlock, opLoop, opIf, opBr, opBrIf = 0x02, 0x03, 0x04, 0x0c, 0x0d
	opCall                              = 0x10
	noResult                            = 0x40
)

// indexed are the instructions that name something.
var indexed = map[string]byte{
	"local.get": 0x20, "local.set": 0x21, "global.get": 0x23, "global.set": 0x24, "call": opCall, "br": opBr, "br_if": opBrIf,
}

// code is a function's code under way.
type code struct {
	module *module
	locals []string
	labels []string // of the blocks that are open, innermost last
	bytes  []byte
}

// emit translates instructions, each a list of its name, what it names, and its
// operands as lists.
func (c *code) emit(instructions ...node) {
	for _, n := range instructions {
		if len(n.list) == 0 {
			fail(n, "no instruction")
		}
		c.instruction(n, n.head(), n.list[1:])
	}
}

func (c *code) instruction(n node, name string, rest []node) {
	switch {
	case name == "block":
		c.block(opBlock, rest[0].word, rest[1:])
	case name == "loop":
		c.block(opLoop, rest[0].word, rest[1:])
	case name == "if":
		c.emit(rest[0])
		c.block(opIf, "", rest[1].list[1:])
	case name == "i32.const":
		c.add(0x41, signed(number(rest[0])))
	case name == "i64.const":
		c.add(0x42, signed(number(rest[0])))
	case indexed[name] != 0:
		c.emit(rest[1:]...)
		c.add(indexed[name], unsigned(c.index(n, name, rest[0].word)))
	case accesses[name] != nil:
		c.access(accesses[name], rest)
	case plain[name] != nil:
		c.emit(rest...)
		c.bytes = append(c.bytes, plain[name]...)
	default:
		fail(n, "unknown")
	}
}

func (c *code) add(op byte, rest []byte) { c.bytes = append(append(c.bytes, op), rest...) }

// block translates what has an end. None here has a result.
func (c *code) block(op byte, label string, body []node) {
	c.add(op, []byte{noResult})
	c.labels = append(c.labels, label)
	c.emit(body...)
	c.labels = c.labels[:len(c.labels)-1]
	c.bytes = append(c.bytes, opEnd)
}

// access translates a load or store, which may have an offset=.
func (c *code) access(op []byte, rest []node) {
	offset := 0
	if word, ok := strings.CutPrefix(rest[0].word, "offset="); ok {
		offset, rest = number(node{word: word}), rest[1:]
	}
	c.emit(rest...)
	c.add(op[0], append([]byte{op[1]}, unsigned(offset)...))
}

// index is the number of what an instruction names.
func (c *code) index(n node, name, what string) int {
	names := c.module.functionNames
	switch {
	case strings.HasPrefix(name, "local."):
		names = c.locals
	case strings.HasPrefix(name, "global."):
		names = c.module.globalNames
	case strings.HasPrefix(name, "br"):
		names = slices.Clone(c.labels)
		slices.Reverse(names)
	}
	index := slices.Index(names, what)
	if index < 0 {
		fail(n, "it names nothing that there is")
	}
	return index
}
