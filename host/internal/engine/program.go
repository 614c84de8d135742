package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"outlast/plugin"
)

const (
	pageBytes = 64 << 10 // WebAssembly's unit of memory
	// compileWorkers is how many goroutines compile (a choice: with two it
	// takes little more than half as long; with one wazero cannot be cancelled).
	compileWorkers = 2
)

// errNoCompiler says that this system lets no process run what it has
// compiled, or that wazero has no compiler for its processor.
var errNoCompiler = errors.New("compiled code cannot be run here")

// program is a loaded plugin, ready to be instantiated.
type program struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil without one
	compiled wazero.CompiledModule
	kernel   wazero.CompiledModule
}

// newRuntimeConfig is wazero's compiler, or its interpreter.
type newRuntimeConfig func() wazero.RuntimeConfig

// load makes a program. A cacheDir other than "" is where wazero looks for
// compiled code, and leaves it. Whatever wazero panics with is an error:
// errNoCompiler if that happens before it has seen the plugin.
func load(ctx context.Context, wasm []byte, config newRuntimeConfig, cacheDir string) (*program, error) {
	return loadAs(ctx, ctx, wasm, config, cacheDir)
}

// loadAs compiles under a context of its own.
func loadAs(compiling, ctx context.Context, wasm []byte, config newRuntimeConfig, cacheDir string) (*program, error) {
	p := &program{}
	if err := p.open(ctx, config, cacheDir); err != nil {
		p.close()
		return nil, err
	}
	if err := p.fill(compiling, ctx, wasm); err != nil {
		p.close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return p, nil
}

// open makes the runtime.
func (p *program) open(ctx context.Context, config newRuntimeConfig, cacheDir string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errNoCompiler, r)
		}
	}()
	c := config().WithMemoryLimitPages(MemoryLimit / pageBytes).WithDebugInfoEnabled(false)
	if cacheDir != "" {
		if p.cache, err = wazero.NewCompilationCacheWithDir(cacheDir); err != nil {
			return err
		}
		c = c.WithCompilationCache(p.cache)
	}
	p.runtime = wazero.NewRuntimeWithConfig(ctx, c)
	return nil
}

// fill adds the plugin, and the modules that it may import from.
func (p *program) fill(compiling, ctx context.Context, wasm []byte) (err error) {
	if p.compiled, err = p.compile(compiling, wasm); err != nil {
		return err
	}
	if p.kernel, err = p.compile(compiling, plugin.Kernel); err != nil {
		return err
	}
	if err := instantiateHost(ctx, p.runtime); err != nil {
		return err
	}
	_, err = wasi_snapshot_preview1.Instantiate(ctx, p.runtime)
	return err
}

// compile compiles a module.
func (p *program) compile(ctx context.Context, wasm []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("compiling the plugin: %v", r)
		}
	}()
	return p.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, compileWorkers), wasm)
}

// close frees the runtime with all its instances.
func (p *program) close() {
	ctx := context.Background()
	if p.runtime != nil {
		p.runtime.Close(ctx) // only instances can make it fail, and theirs have nothing to lose
	}
	if p.cache != nil {
		p.cache.Close(ctx)
	}
}
