// Package kernel gives a plugin the memory that it shares with its host, as
// Extism defines it: blocks that the guest asks for by size and names by
// offset, an input, an output and an error. It provides the twelve functions
// of extism:host/env that Go's plugin kit imports.
//
// What a guest can tell apart from Extism's own kernel, apart from the numbers
// that offsets are (Extism promises nothing about those):
//
//   - An allocation that cannot be met is 0. Extism's kernel overflows from
//     2^48 bytes on and gives an offset whose block is not there. This one also
//     refuses what does not fit into MaxBytes, theirs what exceeds 4 GiB.
//   - A fresh block reads as zeros. Theirs has what its former user left, if
//     it had one: it reuses blocks only when its memory would have to grow.
//   - A load of 8 bytes that straddles the end of memory is 0, one beyond the
//     end of the input too; theirs traps, or wraps around.
//   - A block's neighbours are other blocks, so what an access behind a block's
//     end meets differs, and there are no headers between them to destroy.
//     Freeing gives a block's offset to a later block of about the same size.
package kernel

import (
	"encoding/binary"
	"math/bits"
)

// MaxBytes bounds all blocks of a call together (a choice: requests have at
// most 4 MiB, and run frees what it is done with).
const MaxBytes = 64 << 20

const (
	// firstOffset is the offset of the first block. 0 is never a block, and
	// offsets just above it are most likely a guest's mistake.
	firstOffset = 64
	// keepBytes is how much of its memory a Reset keeps for the next call (a
	// choice: twice the largest request).
	keepBytes = 8 << 20
	// minClass is the binary logarithm of the smallest block's room.
	minClass = 3
	// growBytes is the least that memory grows by (a choice).
	growBytes = 64 << 10
)

// Memory is one call's kernel memory. The zero value is ready for use. It
// belongs to one goroutine at a time.
type Memory struct {
	data   []byte           // by offset
	blocks map[uint64]block // by the offset of their first byte
	free   [64][]uint64     // freed offsets by the class of their room
	input  []byte
	output span
	error  uint64
}

// block is an allocated piece of memory.
type block struct {
	length uint64 // as it was asked for
	class  int    // its room is 1<<class bytes
}

// span is a piece of memory that need not be a block.
type span struct {
	offset, length uint64
}

// Reset forgets everything and takes the next call's input, which must not
// change before the call ends. It keeps up to 8 MiB of memory for reuse.
func (m *Memory) Reset(input []byte) {
	data := m.data
	if cap(data) > keepBytes {
		data = nil
	}
	blocks := m.blocks
	clear(blocks)
	free := m.free
	for i := range free {
		free[i] = free[i][:0]
	}
	*m = Memory{data: data[:0], blocks: blocks, free: free, input: input}
}

// Store allocates a block and fills it; 0 if there is no room or no data.
func (m *Memory) Store(data []byte) uint64 {
	offset := m.alloc(uint64(len(data)))
	if offset != 0 {
		copy(m.data[offset:], data)
	}
	return offset
}

// Block is a copy of the block at the given offset, which must be its first
// byte. What is no block gives nil.
func (m *Memory) Block(offset uint64) []byte {
	return m.copy(span{offset, m.length(offset)})
}

// Output is a copy of what the guest set as its output; false if it set
// nothing, nothing of any length, or more than there is.
func (m *Memory) Output() ([]byte, bool) {
	out := m.copy(m.output)
	return out, len(out) > 0
}

// Error is a copy of what the guest set as its error; false if it set none.
// As in Extism's kernel, a freed block or one that is empty is no error.
func (m *Memory) Error() ([]byte, bool) {
	out := m.copy(span{m.error, m.length(m.error)})
	return out, len(out) > 0
}

func (m *Memory) copy(s span) []byte {
	if s.length == 0 || !m.within(s.offset, s.length) {
		return nil
	}
	return append([]byte(nil), m.data[s.offset:s.offset+s.length]...)
}

// within says whether all n bytes at an offset have been part of a block.
func (m *Memory) within(offset, n uint64) bool {
	size := uint64(len(m.data))
	return offset >= firstOffset && offset <= size && n <= size-offset
}

func (m *Memory) alloc(length uint64) uint64 {
	if length == 0 || length > MaxBytes {
		return 0
	}
	class := max(bits.Len64(length-1), minClass)
	offset := m.reuse(class)
	if offset == 0 {
		if offset = m.extend(1 << class); offset == 0 {
			return 0
		}
	}
	clear(m.data[offset : offset+1<<class])
	if m.blocks == nil {
		m.blocks = map[uint64]block{}
	}
	m.blocks[offset] = block{length: length, class: class}
	return offset
}

// reuse takes a freed block of a class; 0 if there is none.
func (m *Memory) reuse(class int) uint64 {
	list := m.free[class]
	if len(list) == 0 {
		return 0
	}
	m.free[class] = list[:len(list)-1]
	return list[len(list)-1]
}

// extend makes room for a new block behind the others; 0 if there is none.
func (m *Memory) extend(room uint64) uint64 {
	offset := max(uint64(len(m.data)), firstOffset)
	end := offset + room
	if end > MaxBytes {
		return 0
	}
	if end > uint64(cap(m.data)) {
		grown := make([]byte, end, min(max(2*end, growBytes), MaxBytes))
		copy(grown, m.data)
		m.data = grown
	}
	m.data = m.data[:end]
	return offset
}

// release frees a block; what is no block is left alone.
func (m *Memory) release(offset uint64) {
	if b, ok := m.blocks[offset]; ok {
		delete(m.blocks, offset)
		m.free[b.class] = append(m.free[b.class], offset)
	}
}

// length is a block's length; 0 for what is no block.
func (m *Memory) length(offset uint64) uint64 { return m.blocks[offset].length }

func (m *Memory) loadU8(offset uint64) byte {
	if !m.within(offset, 1) {
		return 0
	}
	return m.data[offset]
}

func (m *Memory) loadU64(offset uint64) uint64 {
	if !m.within(offset, 8) {
		return 0
	}
	return binary.LittleEndian.Uint64(m.data[offset:])
}

func (m *Memory) storeU8(offset uint64, v byte) {
	if m.within(offset, 1) {
		m.data[offset] = v
	}
}

func (m *Memory) storeU64(offset, v uint64) {
	if m.within(offset, 8) {
		binary.LittleEndian.PutUint64(m.data[offset:], v)
	}
}

func (m *Memory) inputU8(offset uint64) byte {
	if offset >= uint64(len(m.input)) {
		return 0
	}
	return m.input[offset]
}

func (m *Memory) inputU64(offset uint64) uint64 {
	size := uint64(len(m.input))
	if offset > size || size-offset < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(m.input[offset:])
}

// setOutput ignores an offset out of bounds. It does not look at the length:
// Output does, at the end.
func (m *Memory) setOutput(offset, length uint64) {
	if m.within(offset, 1) {
		m.output = span{offset, length}
	}
}

// setError ignores an offset out of bounds; 0 takes the error back.
func (m *Memory) setError(offset uint64) {
	if offset == 0 || m.within(offset, 1) {
		m.error = offset
	}
}
