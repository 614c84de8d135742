// Package virtual has a clock that moves when it is slept on, to run a policy
// through hours of outage in no time: for tests, and for tools that ask what a
// policy would do.
package virtual

import (
	"context"
	"sync"
	"time"
)

// Clock is a host.Clock that starts at 0 and moves only when it is slept on or
// advanced. Goroutines may share it, but then they share its time too.
type Clock struct {
	mu  sync.Mutex
	now time.Duration
}

// Now is the virtual time.
func (c *Clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep moves the clock by d and returns at once.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Advance(d)
	return nil
}

// Advance moves the clock by d, which may be negative: clocks do that.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}
