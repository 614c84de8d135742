package ready

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"outlast/internal/turns"
	"outlast/ready/meeting"
)

const (
	// shortest and longest bound the time between two looks. The first is short
	// against a person's patience and against what a look costs a server, the
	// second still notices a return within a sixth of a second (choices).
	shortest = 50 * time.Millisecond
	longest  = 150 * time.Millisecond
	// patience is how much of the time that a server has been watched may pass
	// until its return is noticed: after 30 s the looks begin to be rarer, after
	// 90 s they are as rare as they get (a choice).
	patience = 600
	// confirmed is how long apart two answers must be for a server to be ready: one
	// that starts, or is about to end, may give a single good answer (a choice).
	confirmed = 50 * time.Millisecond
	// inFlight bounds the looks under way at once: where none is answered, one
	// begins whenever one of them may have ended.
	inFlight = 8
	// fresh is how long a refusal, or a server's word that it loads, counts as what the
	// server does (a choice, above the time between two looks).
	fresh = time.Second
)

// watcher looks at one target for as long as a watch wants it.
type watcher struct {
	target Target
	among  *registry
	cancel context.CancelFunc // nil before the first watch
	ctx    context.Context

	mu      sync.Mutex
	line    *list.List          // of its watches, as they came
	locals  int                 // of them are this process's own
	numbers int64               // given to watches
	turns   turns.Turns[*watch] // of those that go to a server that is back
	dealt   time.Time           // when any could last be given; zero: never
	up      bool                // it is, as far as was seen last
	shared  shared              // with other processes
	hurry   chan struct{}       // a look is wanted sooner than planned
	looks   int64               // begun so far; the number of the last
	flying  int                 // under way
	latest  int64               // the number of the last look that counts
	named   bool                // its name has been found
	level   level
	ended   time.Time // when that was
	good    time.Time // when the first of the healthy looks in a row began; zero: there is none
	ready   bool      // two healthy looks, far enough apart
	busy    time.Time // since when it has answered 503; zero: it does not
	denied  int       // the status for which its health check is not asked for; 0: it is
}

func newWatcher(t Target, among *registry) *watcher {
	return &watcher{target: t, among: among, line: list.New(), hurry: make(chan struct{}, 1)}
}

// run begins a look whenever one is due, whether or not the last has ended.
func (w *watcher) run(ctx context.Context) {
	began := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	last := began
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			last = time.Now()
			w.begin(ctx, last, false)
		case <-w.hurry:
		}
		timer.Reset(time.Until(last.Add(w.pause(last.Sub(began)))))
	}
}

// pause is the time between the last look and the next.
func (w *watcher) pause(watched time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shared.follows {
		return time.Hour // until it is told to hurry
	}
	if !w.busy.IsZero() {
		watched = time.Since(w.busy) // it is about to be ready: the looks slow down anew
	}
	pause := longest
	for e := w.line.Front(); e != nil; e = e.Next() {
		if e.Value.(*watch).eager {
			pause = min(max(watched/patience, shortest), longest)
			break
		}
	}
	if !w.good.IsZero() && !w.ready {
		pause = confirmed
	}
	if w.flying > 1 { // they are not answered
		pause = max(pause, timeout/inFlight)
	}
	return pause
}

// begin starts a look, unless too many are under way, or another looks and this
// process need not see with its own eyes.
func (w *watcher) begin(ctx context.Context, at time.Time, own bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start(ctx, at, own)
}

// start is begin; w.mu is held.
func (w *watcher) start(ctx context.Context, at time.Time, own bool) {
	if w.flying >= inFlight || w.shared.follows && !own && w.looks > 0 {
		return
	}
	w.shared.looked, w.shared.check = meeting.Boot(), false
	w.flying++
	w.looks++
	n, target := w.looks, w.target
	if w.denied != 0 {
		target.Scheme, target.Omnigraph = "tcp", false
	}
	go func() {
		l, status := w.among.look(ctx, &target)
		if ctx.Err() == nil { // else it was cut off
			w.looked(n, at, l, status)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying--
		if w.shared.check && ctx.Err() == nil {
			w.start(ctx, time.Now(), true)
		}
	}()
}

// looked says what look n, which began at a time, came to. One that began before
// the last that has ended has nothing to add.
func (w *watcher) looked(n int64, began time.Time, l level, status int) {
	w.mu.Lock()
	var told []*watch
	if l = w.known(l); n >= w.latest {
		w.latest, w.level, w.ended = n, l, time.Now()
		w.judge(began, l)
		w.heed(l, status)
		for e := w.line.Front(); e != nil; e = e.Next() {
			e.Value.(*watch).saw(n, l)
		}
		told = append(w.tell(n), w.check(n, l)...)
	}
	w.mu.Unlock()
	news(told)
}

// known makes of a name that is not found what it says of the server. One that
// was never found may be one that only the command can look up.
func (w *watcher) known(l level) level {
	if l == nameless {
		if w.named {
			return down
		}
		return unanswered
	}
	w.named = w.named || l > unanswered
	return l
}

func news(told []*watch) {
	for _, v := range told {
		v.news()
	}
}

// judge decides whether the server is ready.
func (w *watcher) judge(began time.Time, l level) {
	switch {
	case l != healthy:
		w.good, w.ready = time.Time{}, false
	case w.good.IsZero():
		w.good = began
		w.wakeUp()
	default:
		w.ready = w.ready || began.Sub(w.good) >= confirmed
	}
}

// heed has the looks go by what the health check was answered with. One that is not
// there, or not for outlast, is not asked for again until the server has gone away:
// until then only its port is looked at. Of omnigraph's servers a 404 is a proxy's
// whose route is away, since a command that asks at a wrong path does not wait.
func (w *watcher) heed(l level, status int) {
	switch {
	case l == healthy, l < unready && status == 0:
		w.denied = 0
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound && !w.target.Omnigraph:
		w.denied = status
	}
	switch {
	case status != http.StatusServiceUnavailable:
		w.busy = time.Time{}
	case w.busy.IsZero():
		w.busy = time.Now()
	}
}

// tell gives those of the watches whose turn it is with what look n has shown.
func (w *watcher) tell(n int64) (told []*watch) {
	now := unanswered
	switch {
	case w.ready:
		now = healthy
	case w.level >= accepting:
		now = accepting
	}
	if up := now >= accepting; up != w.up {
		w.up = up
		w.beginTurns()
		w.rest()
	}
	for e := w.line.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*watch); n > v.from && !w.shared.follows {
			v.rise(now)
		}
	}
	return w.deal()
}

func (w *watcher) wakeUp() {
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}
