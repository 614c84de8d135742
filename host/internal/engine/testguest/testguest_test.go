package testguest

import (
	"bytes"
	"testing"

	"outlast/host/internal/engine"
)

func TestBuildGivesAPlugin(t *testing.T) {
	wasm, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Verify(wasm); err != nil {
		t.Error(err)
	}
	if again, _ := Build(); !bytes.Equal(wasm, again) {
		t.Error("a second build in this process gave another file")
	}
}
