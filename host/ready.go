package host

import (
	"context"
	"sync"
	"time"

	"outlast/abi"
)

// Readiness looks whether the server that a task calls is back, so that its
// return is noticed and not slept through. The policy decides what that counts
// for: whether a wait is cut short, and whether an attempt that would fail is
// left out. Package ready has one.
type Readiness interface {
	// Watch begins to look, and goes on until the watch is stopped. An eager
	// watch looks as often as is useful; one that is not, which follows a wake
	// whose attempt failed, looks as seldom as it ever does. News is called, from
	// another goroutine, after each look that may have changed what is seen; it
	// does not block.
	Watch(eager bool, news func()) Watch
}

// Watch is what one call sees of a server between two attempts. Only looks that
// began after the watch did count.
type Watch interface {
	Seen() Seen
	Stop()
}

// Seen is what a watch has seen of a server.
type Seen struct {
	// Rose is how ready the server is, if an earlier look saw less of it. ""
	// otherwise: a server that was never seen away did not come back.
	Rose abi.Readiness
	// Down says that the last look, which ended lately, was refused, found no way
	// to the server, or no such name. A look without an answer shows nothing.
	Down bool
	// NotReady says that the last look, which ended lately, was answered: the server
	// is there, and not ready yet: its health check is 503, or it is omnigraph's and
	// loads. One of omnigraph's that is blocked or draining is not NotReady, so that an
	// attempt is made and the caller hears what the server says.
	NotReady bool
	// Why says why less is looked at than was asked for, such as a health check that
	// is answered 404; "": nothing is left out. It is told as Unwatched.
	Why string
}

// lookout is a call's watch, from one attempt to the next, with the wait that
// it may cut short.
type lookout struct {
	watch Watch

	mu    sync.Mutex
	by    abi.Readiness // cuts the wait short
	cut   func()        // nil while there is no such wait
	woken abi.Readiness // with what the latest wait was cut short; "": it was not
}

// lookOut watches for the waits that may be cut short, if the task can.
func (d *driver) lookOut(w *abi.Wake) *lookout {
	if w == nil {
		return nil
	}
	switch {
	case d.lookout != nil:
	case d.task.Ready != nil:
		d.went(Left)
		l := &lookout{}
		l.mu.Lock() // news may come before Watch returns
		l.watch = d.task.Ready.Watch(w.AfterUS == 0, l.news)
		l.mu.Unlock()
		d.lookout = l
	default:
		d.unwatched(d.task.Unwatched)
	}
	return d.lookout
}

// unwatched tells once why nobody watches as was asked for.
func (d *driver) unwatched(why string) {
	if why != "" && !d.saidWhy {
		d.saidWhy = true
		d.task.observe(Unwatched{Why: why})
	}
}

// lookAway ends the watch: an attempt follows, or the call's end.
func (d *driver) lookAway() {
	if d.lookout != nil {
		d.unwatched(d.lookout.watch.Seen().Why)
		d.lookout.watch.Stop()
		d.turn, _ = d.lookout.watch.(Turns)
		d.lookout = nil
	}
}

// leave ends the call for those who wait for the same server, also where it has no
// outcome: a turn that nobody tells of holds them up.
func (d *driver) leave() {
	d.lookAway()
	d.went(Left)
}

func (l *lookout) news() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look()
}

// look cuts the wait short if the server is ready enough; l.mu is held. With what is
// kept: the server may be gone again when the call gets to run.
func (l *lookout) look() {
	if l.cut == nil {
		return
	}
	if rose := l.enough(); rose != "" {
		l.woken = rose
		l.cut()
	}
}

// enough is how ready the server came to be, "" where it is too little.
func (l *lookout) enough() abi.Readiness {
	rose := l.watch.Seen().Rose
	if rose != "" && (rose == abi.Ready || rose == l.by) {
		return rose
	}
	return ""
}

// sleep waits for d, the first part of which nothing cuts short. It says how
// ready the server is if that did.
func (l *lookout) sleep(ctx context.Context, clock Clock, d time.Duration, held time.Duration, by abi.Readiness) (woken abi.Readiness, err error) {
	held = min(held, d)
	if t, ok := l.watch.(Turns); ok {
		t.Waits(by, held, d)
	}
	if held > 0 {
		if err := clock.Sleep(ctx, held); err != nil {
			return "", err
		}
	}
	cuttable, cut := context.WithCancel(ctx)
	defer cut()
	l.mu.Lock()
	l.by, l.cut, l.woken = by, cut, ""
	l.look()
	l.mu.Unlock()
	err = clock.Sleep(cuttable, d-held)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = nil
	if l.woken == "" || ctx.Err() != nil {
		return "", err
	}
	return l.woken, nil
}
