package host

import (
	"context"
	"time"
)

// Clock is the time that a policy lives by. A caller can give one of its own,
// such as one that moves when it is slept on.
type Clock interface {
	// Now is the time since an origin near 0. It is monotonic, or the policy
	// makes it so.
	Now() time.Duration
	// Sleep waits for d and returns nil, or returns the context's error as soon
	// as that is done. Other errors end the call.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the real time, from the moment that the process started.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

var origin = time.Now()

func (systemClock) Now() time.Duration { return time.Since(origin) }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// micros is a time as the wire has it, in whole microseconds.
func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }
