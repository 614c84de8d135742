package strictjson

import "math/bits"

// Masks of a byte each in the 8 bytes of a word.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plain is the end of the run of bytes, from i on, that need no escape in a JSON
// string and that the reader and the writer here copy as they are: ASCII without
// control characters, quotes and backslashes.
//
// It looks at 8 bytes at a time. A jump costs WebAssembly that comes from Go
// more than the arithmetic: byte by byte this takes ten times as long there.
func plain(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		c := s[i : i+8]
		w := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		// A byte that borrows from the next is flagged itself, so the lowest
		// flag is always right.
		quote, slash, del := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
		found := w | (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash | (del-ones)&^del
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}
