package virtual

import (
	"context"
	"testing"
	"time"

	"outlast/host"
)

var _ host.Clock = (*Clock)(nil)

func TestClockMovesWhenSleptOn(t *testing.T) {
	var c Clock
	if err := c.Sleep(context.Background(), 3*time.Second); err != nil || c.Now() != 3*time.Second {
		t.Fatal(err, c.Now())
	}
	c.Advance(-time.Second)
	if c.Now() != 2*time.Second {
		t.Error(c.Now())
	}
}

func TestClockDoesNotSleepOnceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var c Clock
	if err := c.Sleep(ctx, time.Second); err != context.Canceled || c.Now() != 0 {
		t.Error(err, c.Now())
	}
}
