package wasmtest

import (
	"bytes"
	"testing"

	"outlast/host/internal/wasmfile"
)

func TestPluginKeepsTheContract(t *testing.T) {
	if err := wasmfile.Verify(Plugin().Encode()); err != nil {
		t.Error(err)
	}
	if err := wasmfile.Verify(Plugin().Drop("decide").Encode()); err == nil {
		t.Error("one without decide passes")
	}
	if bytes.Equal(Plugin().Pad(1).Encode(), Plugin().Pad(2).Encode()) {
		t.Error("padding makes no difference")
	}
}
