package omnigraph

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestQueueServesInOrderAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queueSet{queue: map[string]*queue{}}
		first, err := s.enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.enter(t.Context(), "b")
		if err != nil {
			t.Fatal("another path waits: ", err)
		}
		var order []int
		for i := range 3 {
			go func() {
				p, err := s.enter(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				p.leave()
			}()
			synctest.Wait()
		}
		if len(order) > 0 {
			t.Error("somebody did not wait")
		}
		first.leave()
		first.leave() // counts once
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("served %v", order)
		}
		other.leave()
		if len(s.queue) > 0 {
			t.Errorf("%d queues are kept", len(s.queue))
		}
	})
}

func TestQueueCanBeLeftWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queueSet{queue: map[string]*queue{}}
		first, err := s.enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)
		if p, err := s.enter(ctx, "a"); p != nil || !errors.Is(err, gone) {
			t.Errorf("%v, %v", p, err)
		}
		first.leave()
		if len(s.queue) > 0 {
			t.Errorf("%d queues are kept", len(s.queue))
		}
	})
}
