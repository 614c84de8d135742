package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestNewDoesNothing(t *testing.T) {
	var l loads
	e := New(Options{Wasm: []byte("not even Wasm"), OnLoad: l.add})
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(l.list) != 0 {
		t.Errorf("loaded: %v", l.list)
	}
}

func TestFirstCallsLoadOnce(t *testing.T) {
	for name, mode := range map[string]Mode{"interpreted": Auto, "compiled": Compiler} {
		t.Run(name, func(t *testing.T) {
			var l loads
			e := New(Options{Wasm: small(1000), Mode: mode, OnLoad: l.add})
			defer e.Close(context.Background())
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range 100 {
				wg.Go(func() {
					<-start
					i, err := e.NewInstance(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					defer i.Close(context.Background())
					if out, err := i.Call(context.Background(), "decide", []byte("x"), nil); err != nil || len(out) != 1 {
						t.Errorf("%q, %v", out, err)
					}
				})
			}
			close(start)
			wg.Wait()
			l.one(t)
		})
	}
}

func TestClosedEngineRefuses(t *testing.T) {
	e, _ := open(t, Options{Wasm: small(0)})
	i := newInstance(t, e)
	for range 2 { // closing twice is fine
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Load(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Load: %v", err)
	}
	if _, err := e.NewInstance(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("NewInstance: %v", err)
	}
	if _, err := i.Call(t.Context(), "decide", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Call: %v", err)
	}
	if i.Poisoned() {
		t.Error("a call that was not made poisoned the instance")
	}
}

// TestCloseWaitsForCalls: the code must not be freed under a running call.
func TestCloseWaitsForCalls(t *testing.T) {
	e, _ := open(t, Options{Wasm: guestWasm(t), Mode: Interpreter})
	i := newInstance(t, e)
	asleep, wake := make(chan struct{}), make(chan struct{})
	h := &scripted{sleep: func(context.Context) []byte {
		close(asleep)
		<-wake
		return []byte("slept")
	}}
	result := make(chan error)
	go func() {
		_, err := i.Call(context.Background(), "run", []byte("x"), h)
		result <- err
	}()
	<-asleep
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close during a call: %v", err)
	}
	if e.ready.Load() == nil {
		t.Error("the plugin was freed during a call")
	}
	if _, err := e.NewInstance(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("NewInstance after Close: %v", err)
	}
	close(wake)
	if err := <-result; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if e.ready.Load() != nil {
		t.Error("the plugin was not freed after the last call")
	}
}
