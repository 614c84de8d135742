package host

import "sync/atomic"

// crowd counts the calls that Run carries out at one time.
type crowd struct{ calls atomic.Int64 }

// crowded is the number of calls from which on their stacks are kept small (a choice:
// stacks of this many that have grown to 16 KiB are 4 MiB).
const crowded = 256

func (c *crowd) enter() { c.calls.Add(1) }
func (c *crowd) leave() { c.calls.Add(-1) }

// aside runs f, and in a crowd runs it on a goroutine of its own. The stack of
// that goroutine is freed at once; the caller's own, once grown, would stay as
// large for as long as the call waits. It costs some 40 microseconds, since the
// new stack has to grow (measured).
func (c *crowd) aside(f func()) {
	if c.calls.Load() < crowded {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
