package process

import (
	"unicode/utf8"

	"outlast/abi"
)

// halfText is what a policy gets of each end of a long output.
const halfText = abi.MaxTextBytes / 2

// capture keeps of an output what a policy may look at: all of it up to
// abi.MaxTextBytes, of more its beginning and its end.
type capture struct {
	first []byte // the first abi.MaxTextBytes bytes; only ever appended to
	last  []byte // a ring of the last halfText bytes of what came after first
	next  int    // where the ring goes on
	total int64
}

func (c *capture) add(p []byte) {
	c.total += int64(len(p))
	n := min(len(p), abi.MaxTextBytes-len(c.first))
	c.first = append(c.first, p[:n]...)
	p = p[n:]
	if len(p) > halfText {
		p = p[len(p)-halfText:]
	}
	if n = min(len(p), halfText-len(c.last)); n > 0 {
		c.last = append(c.last, p[:n]...)
		c.next = len(c.last) % halfText
		p = p[n:]
	}
	for len(p) > 0 {
		n = copy(c.last[c.next:], p)
		c.next = (c.next + n) % halfText
		p = p[n:]
	}
}

// text is the output as a policy gets it: UTF-8 of at most abi.MaxTextBytes,
// with U+FFFD for each byte that is none. No cut splits a character.
func (c *capture) text() abi.Text {
	if c.total <= abi.MaxTextBytes {
		return abi.Clip(string(c.first))
	}
	return abi.Text{
		Head: headOf(toUTF8(wholeEnd(c.first[:halfText]))),
		Tail: tailOf(toUTF8(wholeStart(c.ending()))),
		Cut:  true,
	}
}

// ending is the last halfText bytes.
func (c *capture) ending() []byte {
	end := make([]byte, 0, len(c.first)+len(c.last))
	end = append(end, c.first...)
	if len(c.last) < halfText {
		end = append(end, c.last...)
	} else {
		end = append(end, c.last[c.next:]...)
		end = append(end, c.last[:c.next]...)
	}
	return end[len(end)-halfText:]
}

// toUTF8 puts U+FFFD, which has three bytes, for each byte that is not UTF-8.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// wholeEnd takes off a character that the cut at the end has split.
func wholeEnd(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// wholeStart takes off the rest of a character that the cut at the start has
// split, and nothing of what was no character anyway.
func wholeStart(b []byte) []byte {
	for i := 0; i < len(b) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// headOf is the start of valid UTF-8 in at most halfText bytes.
func headOf(s string) string {
	if len(s) <= halfText {
		return s
	}
	n := halfText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tailOf is the end of valid UTF-8 in at most halfText bytes.
func tailOf(s string) string {
	if len(s) <= halfText {
		return s
	}
	n := len(s) - halfText
	for !utf8.RuneStart(s[n]) {
		n++
	}
	return s[n:]
}
