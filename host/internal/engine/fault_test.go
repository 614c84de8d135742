package engine

import (
	"errors"
	"testing"
)

func TestFirstLine(t *testing.T) {
	inner := errors.New("wasm error: unreachable\nwasm stack trace:\n\t.$1()")
	err := &CallError{Export: "decide", Fault: FaultTrap, Err: firstLine{inner}}
	if got, want := err.Error(), "outlast: calling the plugin's export decide: it trapped: wasm error: unreachable"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(err, inner) {
		t.Error("the original is lost")
	}
}
