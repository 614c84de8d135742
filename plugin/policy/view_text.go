package policy

import (
	"strings"
	"unicode"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// lines is a text's parts, plain, and what is searched for words anywhere: there
// also the lines that were cut in two count, since what stands in a piece of a line
// stood in the text. How a line begins, and what it is, only a whole one tells.
func (v *view) lines(t abi.Text) (parts, searched []string) {
	for _, p := range wholeLines(t) {
		parts = append(parts, plain(p))
	}
	searched = []string{t.Head}
	if t.Cut {
		searched = append(searched, t.Tail)
	}
	if v.colours {
		return parts, searched
	}
	if !t.Cut {
		return parts, parts
	}
	for i, p := range searched {
		searched[i] = plain(p)
	}
	return parts, searched
}

// wholeLines is a text's parts without the lines that were cut in two.
func wholeLines(t abi.Text) []string {
	if !t.Cut {
		return []string{t.Head}
	}
	head := t.Head[:strings.LastIndexByte(t.Head, '\n')+1]
	_, tail, _ := strings.Cut(t.Tail, "\n")
	return []string{head, tail}
}

// blank says whether there is only white space; the information separators
// count as such, as they do for Python's clients.
func blank(parts []string) bool {
	for _, p := range parts {
		if strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsSpace(r) && (r < 0x1c || r > 0x1f) }) {
			return false
		}
	}
	return true
}

func cutLast(s string) (before, line string) {
	i := strings.LastIndexByte(s, '\n')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// digitsOnly is a number of nothing but digits, at most strictjson.MaxInteger.
func digitsOnly(s string) (n int64, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(10*n+int64(c-'0'), strictjson.MaxInteger)
	}
	return n, s != ""
}

// ErrorText is what an outcome quotes of a result, for hosts that must say it
// themselves: a call that is cancelled while it waits.
func ErrorText(r *abi.Result) string { return newView(r).errorText() }

// errorText is what an outcome quotes of the last attempt: at most
// abi.MaxErrorBytes, cut at a character's end.
func (v *view) errorText() string {
	s := strings.TrimSpace(plain(strings.Join(v.excerpt, ": ")))
	if len(s) <= abi.MaxErrorBytes {
		return s
	}
	end := abi.MaxErrorBytes
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}
