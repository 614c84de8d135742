package testguest

import (
	"bytes"
	"testing"

	"outlast/host/internal/wasmfile"
)

func TestBuildGivesAPlugin(t *testing.T) {
	wasm, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := wasmfile.Verify(wasm); err != nil {
		t.Error(err)
	}
	if again, _ := Build(); !bytes.Equal(wasm, again) {
		t.Error("a second build in this process gave another file")
	}
}
