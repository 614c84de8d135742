package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"

	"outlast/host/internal/engine/diskcache"
	"outlast/plugin"
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
	e.ready.Store(p)
	loaded.Took = time.Since(start)
	if e.opts.OnLoad != nil {
		e.opts.OnLoad(loaded)
	}
	return p, nil
}

// load loads as the mode says. From the cache or by the compiler it may fail
// for any reason, and the next way is taken; the last is the interpreter.
func (e *Engine) load(ctx context.Context, mode Mode) (*program, Loaded, error) {
	var why string
	if mode != Interpreter {
		p, err := e.fromCache(ctx)
		if err == nil {
			return p, Loaded{How: Cached}, nil
		}
		why = err.Error()
		if mode == Compiler && !errors.Is(err, errNoCompiler) {
			p, err := e.compile(ctx)
			if err == nil {
				return p, Loaded{How: Compiled, Why: why}, nil
			}
			why = err.Error()
		}
	}
	if ctx.Err() != nil {
		return nil, Loaded{}, ctx.Err()
	}
	p, err := load(ctx, e.opts.Wasm, wazero.NewRuntimeConfigInterpreter, "")
	return p, Loaded{How: Interpreted, Why: why}, err
}

// fromCache loads compiled code that the disk cache has. It compiles nothing,
// and removes an entry that turns out to be damaged.
func (e *Engine) fromCache(ctx context.Context) (*program, error) {
	key, dir, err := e.openCache(diskcache.Open)
	if err != nil {
		return nil, err
	}
	entry, err := dir.Find(key)
	if errors.Is(err, diskcache.ErrNone) {
		return nil, err
	}
	var p *program
	if err == nil {
		p, err = loadCompiled(ctx, e.opts.Wasm, entry)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoCompiler) {
		return p, err // the entry is sound, as far as is known
	}
	if dropErr := dir.Drop(key); dropErr != nil {
		return nil, fmt.Errorf("%w; it could not be removed: %w", err, dropErr)
	}
	return nil, err
}

// openCache finds out where the code of this plugin belongs.
func (e *Engine) openCache(open func(string) (*diskcache.Dir, error)) (string, *diskcache.Dir, error) {
	if e.opts.CacheDir == "" {
		return "", nil, errors.New("there is no cache directory")
	}
	dir, err := open(e.opts.CacheDir)
	if err != nil {
		return "", nil, err
	}
	digest := e.opts.SHA256
	if digest == "" {
		digest = diskcache.Digest(e.opts.Wasm)
	}
	key, err := cacheKey(digest)
	return key, dir, err
}

// cacheKey names the code of a plugin and of the kernel that is linked to it.
func cacheKey(digest string) (string, error) {
	return diskcache.Key(digest + diskcache.Digest(plugin.Kernel))
}

// compile compiles, by way of the disk cache if that can be written.
func (e *Engine) compile(ctx context.Context) (*program, error) {
	if e.writeCache(ctx) == nil {
		if p, err := e.fromCache(ctx); err == nil {
			return p, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return load(ctx, e.opts.Wasm, newCompilerConfig, "")
}
