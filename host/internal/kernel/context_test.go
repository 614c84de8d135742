package kernel

import (
	"context"
	"testing"
)

type otherKey struct{}

func TestFromFindsItsMemory(t *testing.T) {
	var m, other Memory
	base := context.WithValue(t.Context(), otherKey{}, "kept")
	ctx := With(base, &m)
	if From(ctx) != &m {
		t.Error("not found in the outermost context")
	}
	if From(context.WithValue(ctx, otherKey{}, 1)) != &m {
		t.Error("not found in a wrapped context")
	}
	if From(With(ctx, &other)) != &other {
		t.Error("the innermost memory won")
	}
	if ctx.Value(otherKey{}) != "kept" {
		t.Error("other values are hidden")
	}
}

func TestFromWithoutMemory(t *testing.T) {
	if m := From(t.Context()); m.loadU8(firstOffset) != 0 || m.length(firstOffset) != 0 {
		t.Error("a call without memory met some")
	}
}

func TestContextIsCancelledWithItsParent(t *testing.T) {
	base, cancel := context.WithCancel(t.Context())
	ctx := With(base, &Memory{})
	cancel()
	if ctx.Err() == nil {
		t.Error("the context outlives its parent")
	}
}
