package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
)

// Load loads the plugin, once; the other methods that need it do so too. Of
// several callers one loads and the others wait, each as long as its context
// lasts.
func (e *Engine) Load(ctx context.Context) error { return e.loadAs(ctx, e.opts.Mode) }

// Compile is Load that also compiles where the mode is Auto, for who has the time.
func (e *Engine) Compile(ctx context.Context) error {
	return e.loadAs(ctx, max(e.opts.Mode, Compiler))
}

func (e *Engine) loadAs(ctx context.Context, mode Mode) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	_, err := e.program(ctx, mode)
	return err
}

// program is the loaded plugin. The caller has entered.
func (e *Engine) program(ctx context.Context, mode Mode) (*program, error) {
	if p := e.ready.Load(); p != nil {
		return p, nil
	}
	select {
	case e.loading <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("outlast: loading the plugin: %w", ctx.Err())
	}
	defer func() { <-e.loading }()
	if p := e.ready.Load(); p != nil {
		return p, nil
	}
	if e.broken != nil {
		return nil, e.broken
	}
	start := time.Now()
	p, loaded, err := e.load(ctx, mode)
	if err != nil {
		err = fmt.Errorf("outlast: loading the plugin: %w", err)
		if ctx.Err() == nil {
			e.broken = err // it would fail again
		}
		return nil, err
	}
	p.how = loaded.How
	e.ready.Store(p)
	loaded.Took = time.Since(start)
	if e.opts.OnLoad != nil {
		e.opts.OnLoad(loaded)
	}
	return p, nil
}

// load loads as the mode says. The compiler may fail for any reason; the plugin is
// then interpreted.
func (e *Engine) load(ctx context.Context, mode Mode) (*program, Loaded, error) {
	var why string
	if mode == Compiler {
		p, err := load(ctx, e.opts.Wasm, newCompilerConfig)
		if err == nil {
			return p, Loaded{How: Compiled}, nil
		}
		why = err.Error()
	}
	if ctx.Err() != nil {
		return nil, Loaded{}, ctx.Err()
	}
	p, err := load(ctx, e.opts.Wasm, wazero.NewRuntimeConfigInterpreter)
	return p, Loaded{How: Interpreted, Why: why}, err
}
