package strictjson

import (
	"strings"
	"testing"
)

func isPlain(c byte) bool {
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\'
}

// TestPlain compares the run with one that looks at each byte: for every pair
// of bytes, since a byte of a word may borrow from the next, at every place in
// a word and behind the last one.
func TestPlain(t *testing.T) {
	for lead := range 17 {
		text := []byte(strings.Repeat("x", lead) + "??" + strings.Repeat("y", 9))
		for first := range 256 {
			for second := range 256 {
				text[lead], text[lead+1] = byte(first), byte(second)
				want := 0
				for want < len(text) && isPlain(text[want]) {
					want++
				}
				if got := plain(string(text), 0); got != want {
					t.Fatalf("plain(%q) = %d, want %d", text, got, want)
				}
			}
		}
	}
}

func TestPlainStartsWhereItIsTold(t *testing.T) {
	text := strings.Repeat(`"`, 3) + strings.Repeat("x", 20) + `"`
	for i := range text {
		want := max(i, 23)
		if i < 3 {
			want = i
		}
		if got := plain(text, i); got != want {
			t.Errorf("from %d it is %d, want %d", i, got, want)
		}
	}
	if got := plain(text, len(text)); got != len(text) {
		t.Errorf("from the end it is %d", got)
	}
}
