package host_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/plugin/policy"
)

// One decision about a refused connection, in a session in the middle of an
// outage: natively, compiled and interpreted.
func BenchmarkDecide(b *testing.B) {
	b.Run("native", func(b *testing.B) {
		doc := must(policy.BuiltIn("omnigraph"))
		seed, result := int64(1), refused()
		call := abi.Call{Remote: true, ConnectRetry: true, Seed: &seed}
		event := abi.Event{Type: abi.Attempted, Result: &result}
		_, state, err := policy.Decide(doc, &call, "", &event, false)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, _, err := policy.Decide(doc, &call, state, &event, false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compiled", func(b *testing.B) { benchmarkSession(b, compiled) })
	b.Run("interpreted", func(b *testing.B) {
		p := must(host.Open(host.WithInterpreter()))
		defer p.Close(context.Background())
		benchmarkSession(b, p)
	})
}

func benchmarkSession(b *testing.B, p *host.Plugin) {
	ctx, result := context.Background(), refused()
	next := func(s *host.Session) {
		if _, err := s.Next(ctx, abi.Event{Type: abi.Attempted, Result: &result}); err != nil {
			b.Fatal(err)
		}
	}
	s := p.Session(nil, host.Call{Remote: true, Read: true})
	next(s)
	n := 0
	for b.Loop() {
		if n++; n%15 == 0 {
			s = p.Session(nil, host.Call{Remote: true, Read: true})
		}
		next(s)
	}
}

// The first decision of a process, from Open on: with nothing cached, and with
// the compiled code in the cache.
func BenchmarkFirstDecision(b *testing.B) {
	decide := func(b *testing.B, opts ...host.Option) {
		p := must(host.Open(opts...))
		result := refused()
		if _, err := p.Session(nil, host.Call{Remote: true, Read: true}).Next(context.Background(), abi.Event{Type: abi.Attempted, Result: &result}); err != nil {
			b.Fatal(err)
		}
		p.Close(context.Background())
	}
	b.Run("empty cache", func(b *testing.B) {
		for b.Loop() {
			decide(b, host.WithCacheDir(b.TempDir()))
		}
	})
	b.Run("warm cache", func(b *testing.B) {
		dir := b.TempDir() + "/cache"
		decide(b, host.WithCacheDir(dir), host.WithCompiler())
		for b.Loop() {
			decide(b, host.WithCacheDir(dir))
		}
	})
}

// A thousand calls that wait at the same time in Run.
func BenchmarkThousandWaiting(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		before := memory()
		waiting, done := make(chan struct{}, 1000), make(chan struct{}, 1000)
		for range 1000 {
			go func() {
				compiled.Run(ctx, &host.Task{
					Call:    host.Call{Remote: true, Read: true},
					Attempt: func(context.Context, int64) (abi.Result, error) { return refused(), nil },
					Observe: func(e host.Event) {
						if _, ok := e.(host.Waiting); ok {
							waiting <- struct{}{}
						}
					},
				})
				done <- struct{}{}
			}()
		}
		for range 1000 {
			<-waiting
		}
		b.ReportMetric(float64(memory()-before)/1000, "B/call")
		cancel()
		for range 1000 {
			<-done
		}
	}
}

func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A whole outage of 61 s on a virtual clock.
func BenchmarkOutage(b *testing.B) {
	for _, d := range doors {
		b.Run(d.name, func(b *testing.B) {
			for b.Loop() {
				task, _ := outageTask(&virtual.Clock{}, 61*time.Second, 0)
				if _, err := d.run(compiled, context.Background(), task); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
