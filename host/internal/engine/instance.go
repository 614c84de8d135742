package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"outlast/host/internal/kernel"
)

// ErrBusy says that an instance was called during a call of it, by another
// goroutine or by its own Host. The call under way is not harmed.
var ErrBusy = errors.New("outlast: the plugin's instance is carrying out another call")

// ErrPoisoned says that an earlier call of the instance failed.
var ErrPoisoned = errors.New("outlast: the plugin's instance has failed before and is not used again")

// exportInit is called once in a new instance. Go's c-shared build mode makes it.
const exportInit = "_initialize"

// Instance is one copy of the plugin. It carries out one call at a time.
type Instance struct {
	engine    *Engine
	program   *program
	module    api.Module
	functions map[string]api.Function // by export; called by their one user only
	memory    *kernel.Memory
	said      head // by the guest, on its standard error

	mu       sync.Mutex
	busy     bool
	closed   bool
	poisoned bool
}

// NewInstance makes an instance, and loads the plugin before if need be. An
// instance that is not closed lives as long as the engine. If its own
// initialisation fails the error is a *CallError.
func (e *Engine) NewInstance(ctx context.Context) (i *Instance, err error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	if _, err := e.program(ctx, e.opts.Mode); err != nil {
		return nil, err
	}
	start := time.Now()
	p := e.hold()
	defer func() {
		e.interpreted(p, time.Since(start))
		if err != nil {
			e.release(p)
		}
	}()
	i = &Instance{engine: e, program: p, functions: map[string]api.Function{}}
	if i.memory, err = kernel.New(ctx, p.runtime, p.kernel); err != nil {
		return nil, err
	}
	// No name, since a runtime takes each name once.
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStderr(&i.said)
	i.module, err = p.runtime.InstantiateModule(i.memory.Linked(ctx), p.compiled, config)
	if err != nil {
		i.memory.Close(ctx)
		return nil, fmt.Errorf("outlast: making an instance of the plugin: %w", firstLine{err})
	}
	if err = i.initialize(ctx); err != nil {
		i.unload(ctx)
		return nil, err
	}
	return i, nil
}

func (i *Instance) initialize(ctx context.Context) error {
	f := i.module.ExportedFunction(exportInit)
	if f == nil {
		return nil
	}
	_, err := f.Call(ctx)
	if err == nil {
		return nil
	}
	return i.failure(exportInit, err)
}

// Outdated says whether the engine has faster code by now than the instance's.
func (i *Instance) Outdated() bool { return i.engine.ready.Load() != i.program }

// Poisoned says whether a call failed, so that the instance must be replaced.
func (i *Instance) Poisoned() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.poisoned
}

// Close frees the instance; during a call, at that call's end.
func (i *Instance) Close(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil
	}
	i.closed = true
	if i.busy {
		return nil
	}
	return i.free(ctx)
}

func (i *Instance) free(ctx context.Context) error {
	defer i.engine.release(i.program)
	return i.unload(ctx)
}

func (i *Instance) unload(ctx context.Context) error {
	if err := errors.Join(i.module.Close(ctx), i.memory.Close(ctx)); err != nil {
		return fmt.Errorf("outlast: closing an instance of the plugin: %w", err)
	}
	return nil
}

// begin takes the instance for one call of an export.
func (i *Instance) begin() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.closed:
		return ErrClosed
	case i.busy:
		return ErrBusy
	case i.poisoned:
		return ErrPoisoned
	}
	if err := i.engine.enter(); err != nil {
		return err
	}
	i.busy = true
	return nil
}

// end gives the instance back.
func (i *Instance) end(sound bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = false
	i.poisoned = i.poisoned || !sound
	if i.closed {
		i.free(context.Background())
	}
	i.engine.leave()
}
