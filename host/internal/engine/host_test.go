package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// scripted is a host for tests. What is nil answers with its name and input.
type scripted struct {
	now     func(context.Context) []byte
	sleep   func(context.Context) []byte
	attempt func(context.Context, []byte) []byte
	calls   []string
}

func (s *scripted) Now(ctx context.Context) []byte {
	s.calls = append(s.calls, "now")
	if s.now != nil {
		return s.now(ctx)
	}
	return []byte("now")
}

func (s *scripted) Sleep(ctx context.Context, action []byte) []byte {
	s.calls = append(s.calls, "sleep "+string(action))
	if s.sleep != nil {
		return s.sleep(ctx)
	}
	return []byte("slept")
}

func (s *scripted) Attempt(ctx context.Context, action []byte) []byte {
	s.calls = append(s.calls, "attempt "+string(action))
	if s.attempt != nil {
		return s.attempt(ctx, action)
	}
	return []byte("attempted")
}

func TestHostFunctions(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "mine")
		h := &scripted{now: func(got context.Context) []byte {
			if got != ctx {
				t.Error("a method did not get the call's context")
			}
			return []byte("noon")
		}}
		out, err := i.Call(ctx, "run", []byte("an action"), h)
		if err != nil || string(out) != "noon\nslept\nattempted" {
			t.Errorf("%q, %v", out, err)
		}
		if got := strings.Join(h.calls, ", "); got != "now, sleep an action, attempt an action" {
			t.Errorf("the host was called: %s", got)
		}
	})
}

func TestHostThatFails(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		out, err := i.Call(t.Context(), "run", []byte("x"), nil)
		if err != nil || string(out) != "failed\nfailed\nfailed" {
			t.Errorf("no host: %q, %v", out, err)
		}
		h := &scripted{
			now:     func(context.Context) []byte { return nil },
			sleep:   func(context.Context) []byte { return []byte{} },
			attempt: func(context.Context, []byte) []byte { return make([]byte, MemoryLimit+1) }, // fits nowhere
		}
		out, err = i.Call(t.Context(), "run", []byte("x"), h)
		if err != nil || string(out) != "failed\nfailed\nfailed" {
			t.Errorf("empty answers: %q, %v", out, err)
		}
		if i.Poisoned() {
			t.Error("a host that failed poisoned the instance")
		}
	})
}

// TestActionsAreCopies: a host may keep what it was given.
func TestActionsAreCopies(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	var kept [][]byte
	h := &scripted{attempt: func(_ context.Context, action []byte) []byte {
		kept = append(kept, action)
		return []byte("x")
	}}
	for _, input := range []string{"first", "other"} {
		if _, err := i.Call(t.Context(), "run", []byte(input), h); err != nil {
			t.Fatal(err)
		}
	}
	if string(kept[0]) != "first" || string(kept[1]) != "other" {
		t.Errorf("kept %q", kept)
	}
}

// TestManyAttemptsInACall: what run asks for and frees must not add up.
func TestManyAttemptsInACall(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Compiler))
	answer := make([]byte, 128<<10)
	h := &scripted{attempt: func(context.Context, []byte) []byte { return answer }}
	if _, err := i.Call(t.Context(), "attempts", make([]byte, 1000), h); err != nil {
		t.Fatal(err) // 125 MiB in all
	}
	if len(h.calls) != 1000 {
		t.Errorf("%d attempts", len(h.calls))
	}
}

func TestHostPanicReachesTheCaller(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		boom := errors.New("boom")
		h := &scripted{sleep: func(context.Context) []byte { panic(boom) }}
		func() {
			defer func() {
				if r := recover(); r != boom {
					t.Errorf("recovered %v, want the host's own value", r)
				}
			}()
			out, err := i.Call(t.Context(), "run", []byte("x"), h)
			t.Errorf("the call returned %q, %v", out, err)
		}()
		if got := strings.Join(h.calls, ", "); got != "now, sleep x" {
			t.Errorf("the host was called: %s; nothing may follow a panic", got)
		}
		if !i.Poisoned() {
			t.Error("the instance is not poisoned")
		}
		if _, err := i.Call(t.Context(), "describe", nil, nil); !errors.Is(err, ErrPoisoned) {
			t.Errorf("another call: %v", err)
		}
	})
}

// TestHostThatEndsItsGoroutine is what testing.T.Fatal does in a callback.
func TestHostThatEndsItsGoroutine(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		h := &scripted{attempt: func(context.Context, []byte) []byte { runtime.Goexit(); return nil }}
		done := make(chan struct{})
		go func() {
			defer close(done)
			i.Call(context.Background(), "run", []byte("x"), h)
			t.Error("the call returned")
		}()
		<-done
		if !i.Poisoned() {
			t.Error("the instance is not poisoned")
		}
		answer(t, e) // the engine lives
	})
}

// TestCancelDuringSleep: the host's own wait ends, and the plugin reports.
func TestCancelDuringSleep(t *testing.T) {
	bothWays(t, func(t *testing.T, e *Engine) {
		i := newInstance(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		h := &scripted{sleep: func(ctx context.Context) []byte {
			cancel()
			select {
			case <-ctx.Done():
				return []byte("cancelled")
			case <-time.After(time.Minute):
				return []byte("slept")
			}
		}}
		out, err := i.Call(ctx, "run", []byte("x"), h)
		if err != nil || string(out) != "now\ncancelled\nattempted" {
			t.Errorf("%q, %v", out, err)
		}
		if _, err := i.Call(ctx, "decide", []byte("x"), nil); err != nil {
			t.Errorf("a decision after the call was cancelled: %v", err)
		}
	})
}

func TestHostThatCallsItsOwnInstance(t *testing.T) {
	i := newInstance(t, sharedEngine(t, Interpreter))
	h := &scripted{now: func(ctx context.Context) []byte {
		_, err := i.Call(ctx, "describe", nil, nil)
		return fmt.Append(nil, errors.Is(err, ErrBusy))
	}}
	out, err := i.Call(t.Context(), "run", []byte("x"), h)
	if err != nil || !strings.HasPrefix(string(out), "true\n") {
		t.Errorf("%q, %v", out, err)
	}
}
