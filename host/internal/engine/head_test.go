package engine

import (
	"strings"
	"testing"
)

func TestHeadKeepsTheBeginning(t *testing.T) {
	var h head
	for range 100 {
		if n, err := h.Write([]byte(strings.Repeat("x", 99) + "\n")); n != 100 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := h.String(); len(got) != maxDetail || !strings.HasPrefix(got, "xxx") {
		t.Errorf("kept %d bytes: %.10s", len(got), got)
	}
	h.reset()
	h.Write([]byte("a\xff"))
	if got := h.String(); got != "a\ufffd" {
		t.Errorf("got %q", got)
	}
}
