package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestCallPassesBytesThrough(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		for _, size := range []int{1, 7, 8, 9, 63, 1000, 64<<10 + 3, 1 << 20} {
			input := make([]byte, size)
			for at := range input {
				input[at] = byte(at*7 + at>>8)
			}
			out, err := i.Call(t.Context(), "echo", input, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out, input) {
				t.Errorf("%d bytes came back changed", size)
			}
		}
	})
}

func TestOutputIsACopy(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	first, err := i.Call(t.Context(), "echo", []byte("first"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Call(t.Context(), "echo", []byte("other"), nil); err != nil {
		t.Fatal(err)
	}
	if string(first) != "first" {
		t.Errorf("a later call changed an earlier output to %q", first)
	}
}

func TestFaultsPoison(t *testing.T) {
	for _, test := range []struct {
		export string
		fault  Fault
		code   uint32
		says   string // in the error's text
		detail string
	}{
		{"panics", FaultTrap, 0, "it trapped: wasm error: unreachable", "guest panics: secret"},
		{"unreachable", FaultTrap, 0, "it trapped: wasm error: unreachable", "nil pointer dereference"},
		{"exits", FaultExit, 3, "it exited with code 3", ""},
		{"exits_cleanly", FaultExit, 0, "it exited with code 0", ""},
		{"code7", FaultCode, 7, "it returned the code 7 instead of 0", ""},
		{"sets_error", FaultError, 0, "it set an error", "guest error: secret"},
		{"silent", FaultNoOutput, 0, "it gave no output", ""},
		{"deadlock", FaultTrap, 0, "it trapped: wasm error: unreachable", "all goroutines are asleep"},
	} {
		t.Run(test.export, func(t *testing.T) {
			bothWays(t, func(t *testing.T, e *Engine) {
				i := newInstance(t, e)
				out, err := i.Call(t.Context(), test.export, []byte("secret"), nil)
				var c *CallError
				if !errors.As(err, &c) || out != nil {
					t.Fatalf("%q, %v; want a CallError", out, err)
				}
				if c.Export != test.export || c.Fault != test.fault || c.Code != test.code {
					t.Errorf("export %s, fault %s, code %d; want %s, %d", c.Export, c.Fault, c.Code, test.fault, test.code)
				}
				if text := err.Error(); !strings.Contains(text, test.says) || strings.Contains(text, "\n") || strings.Contains(text, "secret") {
					t.Errorf("the error is %q, want one line with %q and nothing of the plugin's own", text, test.says)
				}
				if !strings.Contains(c.Detail, test.detail) || len(c.Detail) > maxDetail {
					t.Errorf("the detail is %q, want %q in it", c.Detail, test.detail)
				}
				if !i.Poisoned() {
					t.Error("the instance is not poisoned")
				}
				if _, err := i.Call(t.Context(), "describe", nil, nil); !errors.Is(err, ErrPoisoned) {
					t.Errorf("another call: %v", err)
				}
			})
		})
	}
}

// TestDetailIsOfTheFailedCall: what an earlier call printed is not its fault.
func TestDetailIsOfTheFailedCall(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	if _, err := i.Call(t.Context(), "prints", []byte("earlier"), nil); err != nil {
		t.Fatal(err)
	}
	_, err := i.Call(t.Context(), "silent", nil, nil)
	var c *CallError
	if !errors.As(err, &c) || c.Detail != "" {
		t.Errorf("%v, detail %q", err, c.Detail)
	}
}

// TestOutOfMemory: a guest that wants more than its limit ends, not the host.
func TestOutOfMemory(t *testing.T) {
	for _, export := range []string{"hungry", "deep"} {
		t.Run(export, func(t *testing.T) {
			bothWays(t, func(t *testing.T, e *Engine) {
				i := newInstance(t, e)
				_, err := i.Call(t.Context(), export, nil, nil)
				var c *CallError
				if !errors.As(err, &c) || !i.Poisoned() {
					t.Fatalf("error = %v, poisoned = %v", err, i.Poisoned())
				}
				if c.Fault != FaultExit && c.Fault != FaultTrap {
					t.Errorf("fault %s", c.Fault)
				}
				if says := err.Error() + c.Detail; !strings.Contains(says, "out of memory") && !strings.Contains(says, "stack overflow") {
					t.Errorf("the error says %q", says)
				}
				if size := i.module.Memory().Size(); size > MemoryLimit {
					t.Errorf("the guest has %d bytes", size)
				}
				answer(t, e)
			})
		})
	}
}

func TestCallsThatAreNotMadeDoNotPoison(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	for _, export := range []string{"missing", "with_parameter", "_initialize", ""} {
		_, err := i.Call(t.Context(), export, nil, nil)
		var c *CallError
		if err == nil || errors.As(err, &c) {
			t.Errorf("%q: %v", export, err)
		}
	}
	if _, err := i.Call(t.Context(), "describe", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestConcurrentCallsOfOneInstanceAreRefused(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				out, err := i.Call(context.Background(), "echo", []byte("x"), nil)
				if errors.Is(err, ErrBusy) {
					continue
				}
				if err != nil || string(out) != "x" {
					t.Errorf("%q, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
	if i.Poisoned() {
		t.Error("a refused call poisoned the instance")
	}
}
