package host

import "sync/atomic"

// crowd counts the calls that Run carries out at one time.
type crowd struct{ calls atomic.Int64 }

// crowded is from how many calls on their stacks are kept small (a choice:
// stacks of this many that have grown to 16 KiB are 4 MiB).
const crowded = 256

func (c *crowd) enter() { c.calls.Add(1) }
func (c *crowd) leave() { c.calls.Add(-1) }

// aside runs f, in a crowd on a goroutine of its own: the stack that it takes is
// free again at once, while one that has grown stays with a call that waits.
// That costs some 40 microseconds, for the new stack has to grow (measured).
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
