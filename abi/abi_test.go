package abi

import "testing"

// The limits depend on each other: what one allows, another must not refuse.
func TestLimitsFitTogether(t *testing.T) {
	// A byte takes at most six as a \u escape; a result has three texts.
	if worst := 3*6*MaxTextBytes + 6*MaxDocumentBytes + 6*MaxStateBytes; worst > MaxRequestBytes {
		t.Errorf("a request can be %d bytes long, and only %d are read", worst, MaxRequestBytes)
	}
	if MaxRunAttempts >= 16_383 {
		t.Error("a run would use up the blocks of Extism's JavaScript kernel, two for each attempt")
	}
}
