package ready

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"outlast/host"
	"outlast/internal/turns"
	"outlast/ready/meeting"
)

// lead looks for others too, until another has followed this process, or its
// server has moved.
func (w *watcher) lead(ctx context.Context, seat *meeting.Seat, addresses string) {
	ctx, cancel := context.WithCancel(ctx)
	var followers sync.WaitGroup
	followers.Go(func() { w.accept(ctx, seat) })
	moved := time.Now()
	for ctx.Err() == nil && !seat.Taken() {
		if time.Since(moved) > asking {
			moved = time.Now()
			if now, err := w.addresses(ctx); err == nil && now != addresses {
				break
			}
		}
		pause(ctx, longest)
	}
	w.mu.Lock()
	followed := w.shared.remotes > 0
	w.mu.Unlock()
	seat.Leave(followed)
	cancel()
	followers.Wait()
}

// accept takes followers in, until the seat is left.
func (w *watcher) accept(ctx context.Context, seat *meeting.Seat) {
	var group sync.WaitGroup
	defer group.Wait()
	room := make(chan struct{}, meeting.Seats())
	for {
		conn, err := seat.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause(ctx, longest)
			continue
		}
		c := &meeting.Conn{UnixConn: conn}
		select {
		case room <- struct{}{}:
			group.Go(func() {
				w.serve(ctx, c)
				<-room
			})
		default:
			c.Say("full")
			c.Close()
		}
	}
}

// serve looks for one follower.
func (w *watcher) serve(ctx context.Context, conn *meeting.Conn) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	watches := map[string]*watch{}
	defer func() { w.lose(slices.Collect(maps.Values(watches))...) }()
	for {
		m, err := conn.Hear()
		if err != nil || !w.answers(conn, watches, m) {
			return
		}
	}
}

// answers does what a follower's line asks for; false: it is not one of a follower's,
// or has one call too many.
func (w *watcher) answers(conn *meeting.Conn, watches map[string]*watch, m []string) bool {
	if m[0] == "ask" {
		conn.Say(w.here()...)
		return true
	}
	if len(m) < 2 {
		return false
	}
	id, v := m[1], watches[m[1]]
	switch {
	case m[0] == "wait":
		if v != nil {
			w.lose(v)
			delete(watches, id)
		}
		if v = w.take(conn, m); v == nil {
			conn.Say("full")
			return false
		}
		watches[id] = v
	case v == nil: // it is known no more
	case m[0] == "go":
		w.goes(v)
	case m[0] == "done":
		v.Went(host.How(m[2]))
		w.lose(v)
		delete(watches, id)
	}
	return true
}

// here is what was seen last, and for how long it holds.
func (w *watcher) here() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []string{"here", w.level.word(), meeting.Time(w.shared.looked + holds)}
}

// take puts a call of a follower in the line; nil: there are too many of them.
func (w *watcher) take(conn *meeting.Conn, wait []string) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shared.kept >= calls {
		return nil
	}
	v := &watch{
		remote: true, by: levelOf(wait[2]), looked: wait[3] != meeting.Unseen, least: levelOf(wait[3]), eager: wait[4] == "eager",
	}
	v.news = func() {
		if rose := v.told(); rose >= accepting {
			conn.Say("turn", wait[1], rose.word(), meeting.Time(meeting.Boot()+turns.Lease))
		}
	}
	w.add(v)
	w.shared.remotes++
	w.shared.kept++
	w.wakeUp() // it may be eager
	return v
}

// told is what the watch was told of.
func (v *watch) told() level {
	v.watcher.mu.Lock()
	defer v.watcher.mu.Unlock()
	return v.rose
}

// leave takes a follower's call out of the line; w.mu is held.
func (w *watcher) leave(v *watch) {
	if v.place != nil {
		w.drop(v)
		w.shared.remotes--
		w.rest()
	}
}

// goes takes out one that goes to the server.
func (w *watcher) goes(v *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(v)
}

// lose takes out those of whom nothing more is known. The places that they had are
// free, and are given once: a connection may end with thousands of calls.
func (w *watcher) lose(watches ...*watch) {
	w.mu.Lock()
	for _, v := range watches {
		w.leave(v)
		w.shared.kept--
		w.turns.Left(v)
	}
	told := w.deal()
	w.mu.Unlock()
	news(told)
}
