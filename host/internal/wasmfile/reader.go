package wasmfile

import "fmt"

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
	if r.left() == 0 {
		r.fail("truncated: a byte is missing")
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 && n < 1<<32 {
			return uint32(n)
		}
	}
	r.fail("a number is longer than 32 bits")
	return 0
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail("truncated: %d bytes are announced, %d are left", n, r.left())
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

// count reads how many entries follow. Each takes at least a byte, so a count
// beyond what is left is refused before anything is allocated.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.fail("truncated: %d entries are announced, %d bytes are left", n, r.left())
		return 0
	}
	return n
}
