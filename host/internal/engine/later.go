package engine

import (
	"fmt"
	"os"
	"time"

	"outlast/host/internal/cgroup"
)

const (
	// compilePays is how much interpreting is paid for compiled code. Compiling takes
	// some 1.2 s of a processor (measured), so whoever stops just then has spent
	// about twice what was needed, and nobody spends more.
	compilePays = time.Second
	// compileNeeds is the memory that compiling takes beside what the process has, in
	// bytes: up to 100 MiB (measured), with room above.
	compileNeeds = 160 << 20
)

// memoryRoot is where the limit of this process's memory is read; tests have others.
var memoryRoot = os.DirFS("/")

// interpreted counts time of interpreting, and has the plugin compiled once that
// pays. It never blocks and never fails; Close ends what it started.
func (e *Engine) interpreted(p *program, took time.Duration) {
	if p.how != Interpreted || e.opts.Mode != Auto || time.Duration(e.spent.Add(int64(took))) < compilePays {
		return
	}
	if !e.compiling.CompareAndSwap(false, true) || e.enter() != nil {
		return
	}
	go func() {
		defer e.leave()
		start := time.Now()
		loaded := Loaded{How: Compiled}
		if err := e.compileLater(); err != nil {
			loaded = Loaded{How: Interpreted, Why: err.Error()}
		}
		loaded.Took = time.Since(start)
		if e.opts.OnLoad != nil {
			e.opts.OnLoad(loaded)
		}
	}()
}

// compileLater puts compiled code in the interpreted plugin's place. Instances that
// are there go on as they are.
func (e *Engine) compileLater() error {
	if left, limited := cgroup.MemoryLeft(memoryRoot); limited && left < compileNeeds {
		return fmt.Errorf("the memory limit leaves %d MiB, and compiling the plugin takes %d", left>>20, compileNeeds>>20)
	}
	p, err := load(e.background, e.opts.Wasm, newCompilerConfig)
	if err != nil {
		return err
	}
	p.how = Compiled
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.ready.Swap(p)
	if old.instances == 0 {
		old.close()
	} else {
		e.retired = old
	}
	return nil
}

// hold is the program that a new instance is of, which lives until it is released.
func (e *Engine) hold() *program {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.ready.Load()
	p.instances++
	return p
}

// release tells that an instance of a program is gone.
func (e *Engine) release(p *program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.instances--
	if p == e.retired && p.instances == 0 {
		e.retired = nil
		p.close()
	}
}
