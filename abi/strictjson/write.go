package strictjson

import "unicode/utf8"

// AppendInt appends n in decimal.
func AppendInt(b []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		b = append(b, '-')
		u = -u
	}
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + u%10)
		if u /= 10; u == 0 {
			return append(b, digits[i:]...)
		}
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, one for each byte.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; ; {
		from := i
		i = plain(s, i)
		b = append(b, s[from:i]...)
		if i >= len(s) {
			return append(b, '"')
		}
		b, i = appendOther(b, s, i)
	}
}

// appendOther appends the character at i, which is not plain, and gives where
// the next one starts.
func appendOther(b []byte, s string, i int) ([]byte, int) {
	switch c := s[i]; {
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(s[i:])
		return utf8.AppendRune(b, r), i + size
	case c == '"' || c == '\\':
		b = append(b, '\\', c)
	case c == '\n':
		b = append(b, '\\', 'n')
	default:
		b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return b, i + 1
}

// Quote is s as a JSON string.
func Quote(s string) string {
	return string(AppendString(nil, s))
}

// Writer appends a JSON text member by member and sets the commas.
type Writer struct {
	Bytes []byte
	fresh bool // no comma before the next member
}

// Open begins an object or array, as c says: { or [.
func (w *Writer) Open(c byte) {
	w.comma()
	w.Bytes = append(w.Bytes, c)
	w.fresh = true
}

// Close ends it: } or ].
func (w *Writer) Close(c byte) {
	w.Bytes = append(w.Bytes, c)
	w.fresh = false
}

// Name begins an object's member.
func (w *Writer) Name(name string) {
	w.comma()
	w.Bytes = append(AppendString(w.Bytes, name), ':')
	w.fresh = true
}

// String writes a string value.
func (w *Writer) String(s string) {
	w.comma()
	w.Bytes = AppendString(w.Bytes, s)
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	w.comma()
	w.Bytes = AppendInt(w.Bytes, n)
}

// Bool writes a boolean.
func (w *Writer) Bool(v bool) {
	if v {
		w.Raw("true")
	} else {
		w.Raw("false")
	}
}

// Raw writes a value that is JSON already.
func (w *Writer) Raw(json string) {
	w.comma()
	w.Bytes = append(w.Bytes, json...)
}

// StringMember writes a member, or nothing where s is empty.
func (w *Writer) StringMember(name, s string) {
	if s != "" {
		w.Name(name)
		w.String(s)
	}
}

// IntMember writes a member, or nothing where n is 0.
func (w *Writer) IntMember(name string, n int64) {
	if n != 0 {
		w.Name(name)
		w.Int(n)
	}
}

// TrueMember writes a member, or nothing where v is false.
func (w *Writer) TrueMember(name string, v bool) {
	if v {
		w.Name(name)
		w.Bool(true)
	}
}

func (w *Writer) comma() {
	if !w.fresh && len(w.Bytes) > 0 {
		w.Bytes = append(w.Bytes, ',')
	}
	w.fresh = false
}

// plain is the end of the run of bytes, from i on, that need no escape in a JSON
// string and that the reader and the writer here copy as they are: ASCII without
// control characters, quotes and backslashes.
func plain(s string, i int) int {
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}
