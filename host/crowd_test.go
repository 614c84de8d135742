package host

import (
	"runtime"
	"testing"
)

// TestCrowd: f has run when aside returns, in a crowd on another goroutine.
func TestCrowd(t *testing.T) {
	var c crowd
	for n := range 2 * crowded {
		here, there := stackOf(), ""
		c.aside(func() { there = stackOf() })
		if there == "" {
			t.Fatalf("among %d calls it has not run", n)
		}
		if same := here == there; same != (n < crowded) {
			t.Fatalf("among %d calls it ran on the caller's goroutine: %t", n, same)
		}
		c.enter()
	}
	for range 2 * crowded {
		c.leave()
	}
	if n := c.calls.Load(); n != 0 {
		t.Errorf("when all have left there are %d", n)
	}
}

// stackOf is the name of the goroutine, "goroutine 7 ".
func stackOf() string {
	text := make([]byte, 64)
	text = text[:runtime.Stack(text, false)]
	for i, c := range text {
		if c == '[' {
			return string(text[:i])
		}
	}
	return string(text)
}
