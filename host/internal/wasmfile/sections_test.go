package wasmfile

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	if got := clip("short"); got != "short" {
		t.Errorf("clip = %q", got)
	}
	if got := clip(strings.Repeat("x", 100)); got != strings.Repeat("x", maxQuoted)+"…" {
		t.Errorf("clip = %q", got)
	}
}

func TestSkipLimits(t *testing.T) {
	for _, test := range []struct {
		data []byte
		ok   bool
	}{
		{[]byte{0, 1}, true},
		{[]byte{1, 1, 2}, true},
		{[]byte{3, 1, 2}, true},
		{[]byte{5, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2}, true}, // more than 32 bits
		{[]byte{1, 1}, false},
		{[]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2}, false},
		{[]byte{8, 1}, false},
	} {
		r := &reader{data: test.data, what: "test"}
		skipLimits(r)
		if err := r.end(); (err == nil) != test.ok {
			t.Errorf("% x: %v", test.data, err)
		}
	}
}
