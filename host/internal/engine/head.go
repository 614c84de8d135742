package engine

import "strings"

// maxDetail bounds what is kept of a plugin's words, in bytes (a choice: a
// panic's message and where it happened).
const maxDetail = 2 << 10

// head keeps the beginning of what is written to it. It never fails, since a
// guest would take that for a broken disk.
type head struct {
	text []byte
}

func (h *head) Write(p []byte) (int, error) {
	room := maxDetail - len(h.text)
	h.text = append(h.text, p[:min(room, len(p))]...)
	return len(p), nil
}

func (h *head) reset() { h.text = h.text[:0] }

func (h *head) String() string { return clip(h.text) }

// clip is the beginning of a text, as valid UTF-8.
func clip(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(maxDetail, len(text))]), "\ufffd")
}
