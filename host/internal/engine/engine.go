// Package engine loads a plugin into wazero and calls it.
//
// An Engine has one plugin and one runtime, which all its instances share. It
// does nothing before it is needed: a user's command that succeeds never pays
// for it. An Instance is one copy of the plugin with its own memory; it carries
// out one call at a time, and one that failed in any way is not used again.
//
// The guest gets fake clocks, fixed randomness, no files, and no way to be
// stopped while it computes: wazero's check for cancellation makes loops ten
// times slower and would lose the plugin's report. What blocks is the Host's
// methods, so these must watch their context.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// MemoryLimit bounds the memory of one instance, in bytes (a choice: a request
// of the largest size takes less than half of it).
const MemoryLimit = 64 << 20

// ErrClosed says that the engine or the instance was closed.
var ErrClosed = errors.New("outlast: the plugin has been closed")

// Options describe an engine.
type Options struct {
	Wasm   []byte // the plugin; must not change
	Mode   Mode
	OnLoad func(Loaded) // called once the plugin is loaded, and once compileLater has ended
}

// Engine has one plugin. It may be used by any number of goroutines.
type Engine struct {
	opts    Options
	loading chan struct{} // has room for the one that loads
	ready   atomic.Pointer[program]
	broken  error // why loading failed for good; guarded by loading

	spent      atomic.Int64    // nanoseconds of interpreting
	compiling  atomic.Bool     // compileLater was called
	background context.Context // of compileLater; ended by Close
	cancel     context.CancelFunc

	mu      sync.Mutex
	users   int      // loads, instantiations, calls and compilations under way
	retired *program // that compiled code replaced, while it has instances
	closed  bool
	idle    chan struct{} // closed when everything has been freed
}

// New makes an engine. Nothing is read or compiled before the first use.
func New(opts Options) *Engine {
	e := &Engine{opts: opts, loading: make(chan struct{}, 1), idle: make(chan struct{})}
	e.background, e.cancel = context.WithCancel(context.Background())
	return e
}

// enter keeps the engine from being freed until leave.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.users++
	return nil
}

func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users--
	e.freeIfUnused()
}

// freeIfUnused frees everything once the engine is closed and the last user
// has left. The lock is held.
func (e *Engine) freeIfUnused() {
	if !e.closed || e.users > 0 {
		return
	}
	for _, p := range []*program{e.ready.Swap(nil), e.retired} {
		if p != nil {
			p.close()
		}
	}
	e.retired = nil
	close(e.idle)
}

// Close ends what runs in the background, refuses new calls, waits for those
// under way and frees the plugin with all its instances. If ctx is done first
// the error says so, and the last call frees the plugin. It must not be called
// from within a Host's method.
func (e *Engine) Close(ctx context.Context) error {
	e.cancel()
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		e.freeIfUnused()
	}
	e.mu.Unlock()
	select {
	case <-e.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("outlast: closing the plugin while calls are under way: %w", ctx.Err())
	}
}
