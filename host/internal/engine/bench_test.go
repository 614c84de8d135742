package engine

import (
	"context"
	"runtime"
	"testing"

	"outlast/abi"
	"outlast/plugin"
)

// firstDecision is what a user waits for after the first failure.
func firstDecision(b *testing.B, opts Options, want How) {
	b.Helper()
	opts.Wasm = plugin.Wasm
	opts.OnLoad = func(l Loaded) {
		if l.How != want {
			b.Fatalf("%+v, want %v", l, want)
		}
	}
	ctx := b.Context()
	e := New(opts)
	i, err := e.NewInstance(ctx)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := i.Call(ctx, abi.ExportDecide, refused(), nil); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	if err := e.Close(ctx); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

func BenchmarkFirstDecision(b *testing.B) {
	b.Run("interpreted", func(b *testing.B) {
		for b.Loop() {
			firstDecision(b, Options{Mode: Interpreter}, Interpreted)
		}
	})
	b.Run("compiled", func(b *testing.B) {
		for b.Loop() {
			firstDecision(b, Options{Mode: Compiler}, Compiled)
		}
	})
}

func benchmarkEngine(b *testing.B, mode Mode) *Engine {
	b.Helper()
	e, _ := open(b, Options{Wasm: plugin.Wasm, Mode: mode})
	return e
}

var benchmarkModes = map[string]Mode{"interpreted": Interpreter, "compiled": Compiler}

func BenchmarkDecide(b *testing.B) {
	for name, mode := range benchmarkModes {
		b.Run(name, func(b *testing.B) {
			i := newInstance(b, benchmarkEngine(b, mode))
			request := refused()
			for b.Loop() {
				if _, err := i.Call(b.Context(), abi.ExportDecide, request, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInstance makes an instance and asks it once, and reports the memory
// that each takes while it lives.
func BenchmarkInstance(b *testing.B) {
	for name, mode := range benchmarkModes {
		b.Run(name, func(b *testing.B) {
			e := benchmarkEngine(b, mode)
			request := refused()
			for b.Loop() {
				i, err := e.NewInstance(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := i.Call(b.Context(), abi.ExportDecide, request, nil); err != nil {
					b.Fatal(err)
				}
				i.Close(b.Context())
			}
			b.ReportMetric(float64(heapOfInstances(b, e, 20))/20/(1<<20), "MiB/instance")
		})
	}
}

// heapOfInstances is how much n instances that have been called add to the heap.
func heapOfInstances(b *testing.B, e *Engine, n int) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var keep []*Instance
	for range n {
		i, err := e.NewInstance(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := i.Call(b.Context(), abi.ExportDecide, refused(), nil); err != nil {
			b.Fatal(err)
		}
		keep = append(keep, i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for _, i := range keep {
		i.Close(context.Background())
	}
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func BenchmarkVerify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := Verify(plugin.Wasm); err != nil {
			b.Fatal(err)
		}
	}
}
