package host_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/plugin/policy"
)

// One decision about a refused connection, in a session in the middle of an
// outage: by the policy's code alone, by that code as the host asks it, compiled and
// interpreted.
func BenchmarkDecide(b *testing.B) {
	b.Run("linked", func(b *testing.B) { benchmarkSession(b, linked) })
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
	s := p.Session(omnigraph, host.Call{Remote: true, Read: true})
	next(s)
	n := 0
	for b.Loop() {
		if n++; n%15 == 0 {
			s = p.Session(omnigraph, host.Call{Remote: true, Read: true})
		}
		next(s)
	}
}

// The first decision of a process, from Open on.
func BenchmarkFirstDecision(b *testing.B) {
	for name, opts := range map[string][]host.Option{
		"linked": nil, "interpreted": {host.WithInterpreter()}, "compiled": {host.WithCompiler()},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := must(host.Open(opts...))
				result := refused()
				if _, err := p.Session(omnigraph, host.Call{Remote: true, Read: true}).Next(context.Background(), abi.Event{Type: abi.Attempted, Result: &result}); err != nil {
					b.Fatal(err)
				}
				p.Close(context.Background())
			}
		})
	}
}

// stillClock is the real time whose waits never end by themselves, so that all
// calls wait at once however slow the machine is.
type stillClock struct{ host.Clock }

func (c stillClock) Sleep(ctx context.Context, _ time.Duration) error {
	return c.Clock.Sleep(ctx, 1000*time.Hour)
}

// Ten thousand calls that wait at the same time in Run, each after an attempt
// that printed more than all may hold: what they hold above a plugin that is
// loaded, and how much of it is stack.
func BenchmarkTenThousandWaiting(b *testing.B) {
	const calls, printed = 10_000, 8 << 10
	loadAll(b)
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		waiting, done, clock := make(chan struct{}, calls), make(chan struct{}, calls), stillClock{host.SystemClock()}
		held, stack := memory()
		for range calls {
			go func() {
				compiled.Run(ctx, &host.Task{
					Policy: omnigraph,
					Call:   host.Call{Remote: true, Read: true},
					Clock:  clock,
					Attempt: func(context.Context, int64) (abi.Result, error) {
						r := refused()
						r.Stdout.Head = strings.Repeat("x", printed)
						return r, nil
					},
					Observe: func(e host.Event) {
						if _, ok := e.(host.Waiting); ok {
							waiting <- struct{}{}
						}
					},
				})
				done <- struct{}{}
			}()
		}
		for range calls {
			<-waiting
		}
		heldNow, stackNow := memory()
		b.ReportMetric(float64(heldNow-held)/calls, "B/call")
		b.ReportMetric(float64(stackNow-stack)/calls, "stack-B/call")
		b.ReportMetric(float64(heldNow-held)/(1<<20), "MiB")
		cancel()
		for range calls {
			<-done
		}
	}
}

// loadAll has every instance of the plugin made, so that what is measured after
// it is the calls' own.
func loadAll(b *testing.B) {
	ctx, result := context.Background(), refused()
	var all sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range 50 {
				s := compiled.Session(omnigraph, host.Call{Remote: true, Read: true})
				if _, err := s.Next(ctx, abi.Event{Type: abi.Attempted, Result: &result}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// memory is what the process holds: the heap, in which the plugin's own memory
// is too, and the stacks.
func memory() (held, stack int64) {
	runtime.GC()
	runtime.GC() // what the first one's finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse), int64(m.StackInuse)
}

// Decisions of as many goroutines at once as are named, natively and compiled.
// An operation is one decision, so more processors should make it shorter.
func BenchmarkDecisions(b *testing.B) {
	doc := must(policy.BuiltIn("omnigraph"))
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("native/goroutines=%d", n), func(b *testing.B) {
			together(b, n, func() error {
				seed, result := int64(1), refused()
				call := abi.Call{Remote: true, ConnectRetry: true, Seed: &seed}
				_, _, err := policy.Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &result}, false)
				return err
			})
		})
		b.Run(fmt.Sprintf("compiled/goroutines=%d", n), func(b *testing.B) {
			loadAll(b)
			together(b, n, func() error {
				result := refused()
				s := compiled.Session(omnigraph, host.Call{Remote: true, Read: true})
				_, err := s.Next(context.Background(), abi.Event{Type: abi.Attempted, Result: &result})
				return err
			})
		})
	}
}

// together shares b.N calls of f among n goroutines.
func together(b *testing.B, n int, f func() error) {
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range n {
		all.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
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
