package wasmtest

import (
	"bytes"
	"testing"
)

func TestPad(t *testing.T) {
	if bytes.Equal(Plugin().Pad(1).Encode(), Plugin().Pad(2).Encode()) {
		t.Error("padding makes no difference")
	}
}
