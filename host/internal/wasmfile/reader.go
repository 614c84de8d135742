package wasmfile

import (
	"fmt"
	"unicode/utf8"
)

// FormatError says where a file stops being Wasm. A file that was cut short is
// reported at the place where bytes are missing.
type FormatError struct {
	Offset  int // in bytes, from the start of the file
	Message string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("outlast: reading a Wasm file: at byte %d: %s", e.Offset, e.Message)
}

// reader walks over one part of the file and never past it. The first fault
// sticks: every later read gives zero, so that callers check it once.
type reader struct {
	data  []byte
	start int    // where data begins in the file
	at    int    // next byte of data
	what  string // what is being read, for errors
	fault error
}

func (r *reader) left() int { return len(r.data) - r.at }

func (r *reader) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = &FormatError{Offset: r.start + r.at, Message: r.what + ": " + fmt.Sprintf(format, args...)}
	}
	r.at = len(r.data)
}

func (r *reader) byte() byte {
	if r.fault != nil {
		return 0
	}
	if r.left() == 0 {
		r.fail("truncated: a byte is missing")
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 { return uint32(r.leb(32)) }

// leb reads an unsigned LEB128 number of at most the given number of bits,
// in no more bytes than such a number may take.
func (r *reader) leb(bits int) uint64 {
	var n uint64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		if r.fault != nil {
			return 0
		}
		if left := bits - shift; left < 7 && b>>left != 0 {
			break
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.fail("a number is longer than %d bits", bits)
	return 0
}

func (r *reader) bytes(n uint32) []byte {
	if r.fault != nil {
		return nil
	}
	if uint64(n) > uint64(r.left()) {
		r.fail("truncated: %d bytes are announced, %d are left", n, r.left())
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail("a name is not UTF-8")
		return ""
	}
	return string(b)
}

// count reads how many entries follow. Each takes at least a byte, so a count
// beyond what is left is refused before anything is allocated.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.fail("truncated: %d entries are announced, %d bytes are left", n, r.left())
	}
	return n
}

// list reads a count and then that many entries.
func (r *reader) list(item func()) {
	for n := r.count(); n > 0 && r.fault == nil; n-- {
		item()
	}
}

// end checks that everything was read.
func (r *reader) end() error {
	if r.fault == nil && r.left() > 0 {
		r.fail("%d bytes are left over", r.left())
	}
	return r.fault
}
