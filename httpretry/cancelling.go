package httpretry

import (
	"context"
	"errors"
	"time"

	"outlast/host"
)

// errCancelled is what ends a wait at http.Request.Cancel, as it ends an attempt.
var errCancelled = errors.New("outlast: httpretry: the request was cancelled while it waited")

// cancelling is a clock whose waits end at http.Request.Cancel.
type cancelling struct {
	host.Clock
	cancel <-chan struct{}
}

// Sleep implements host.Clock.
func (c cancelling) Sleep(ctx context.Context, d time.Duration) error {
	sleeping, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	go func() {
		select {
		case <-c.cancel:
			// http.Client's Timeout closes it, and has given the context that deadline too.
			if deadline, ok := ctx.Deadline(); !ok || time.Now().Before(deadline) {
				wake(errCancelled)
			}
		case <-sleeping.Done():
		}
	}()
	err := c.Clock.Sleep(sleeping, d)
	if context.Cause(sleeping) == errCancelled {
		return errCancelled
	}
	return err
}
