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
	how       How
	runtime   wazero.Runtime
	compiled  wazero.CompiledModule
	kernel    wazero.CompiledModule
	instances int // guarded by the engine's lock
}

// newRuntimeConfig is wazero's compiler, or its interpreter.
type newRuntimeConfig func() wazero.RuntimeConfig

// load makes a program. Whatever wazero panics with is an error: errNoCompiler if
// that happens before it has seen the plugin.
func load(ctx context.Context, wasm []byte, config newRuntimeConfig) (*program, error) {
	p := &program{}
	err := p.open(ctx, config)
	if err == nil {
		err = p.fill(ctx, wasm)
	}
	if err == nil {
		return p, nil
	}
	p.close()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, err
}

// open makes the runtime.
func (p *program) open(ctx context.Context, config newRuntimeConfig) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errNoCompiler, r)
		}
	}()
	c := config().WithMemoryLimitPages(MemoryLimit / pageBytes).WithDebugInfoEnabled(false)
	p.runtime = wazero.NewRuntimeWithConfig(ctx, c)
	return nil
}

// fill adds the plugin, and the modules that it may import from.
func (p *program) fill(ctx context.Context, wasm []byte) (err error) {
	if p.compiled, err = p.compile(ctx, wasm); err != nil {
		return err
	}
	if p.kernel, err = p.compile(ctx, plugin.Kernel); err != nil {
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
	if p.runtime != nil {
		p.runtime.Close(context.Background()) // only instances can make it fail, and theirs have nothing to lose
	}
}
