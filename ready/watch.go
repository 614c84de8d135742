package ready

import (
	"container/list"
	"context"
	"strconv"
	"time"

	"outlast/abi"
	"outlast/host"
)

// before is how long before an attempt of the schedule is due a process that does
// not look itself does so once (a choice: the answer of a server far away has come
// by then, and still counts).
const before = 250 * time.Millisecond

// watch is one call's view of a watcher: of this process, or of another that
// follows it.
type watch struct {
	watcher *watcher
	news    func()
	eager   bool
	remote  bool
	number  int64         // tells those of a watcher apart
	place   *list.Element // in its line; nil: it was stopped
	began   time.Time
	from    int64 // the number of the last look that began before it
	looked  bool  // a look that counts has ended
	least   level // the least that one ended with
	risen   level // above that; unanswered: it did not
	rose    level // what it was told of that, when its turn came

	by    level // the least that wakes it
	waits bool  // and would now
	held  *time.Timer
	due   *time.Timer

	given level       // a turn that no look has confirmed yet; unanswered: there is none
	since int64       // the number of the last look that began before that
	back  *time.Timer // until the looker is told again that it waits; nil: it knows
}

var _ host.Turns = (*watch)(nil)

// add puts a watch at the end of the line. The first begins the looks.
func (w *watcher) add(v *watch) {
	w.numbers++
	v.watcher, v.number, v.from, v.began, v.waits = w, w.numbers, w.looks, time.Now(), true
	v.by = max(v.by, accepting)
	v.place = w.line.PushBack(v)
	if !v.remote {
		w.locals++
	}
	if w.cancel == nil {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.ctx = ctx
		w.beginTurns()
		go w.run(ctx)
		if w.among.dir != nil {
			go w.share(ctx)
		}
	}
	w.shared.wait(v)
}

// drop takes a watch out of the line. Whose call makes an attempt at a server that
// is there has a turn, whether or not it was given.
func (w *watcher) drop(v *watch) {
	if v.place == nil {
		return
	}
	w.line.Remove(v.place)
	v.place = nil
	stop(v.held, v.due, v.back)
	if !v.remote {
		w.locals--
	}
	if w.up {
		w.turns.Begin(v, time.Now())
	}
}

// saw takes what look n came to.
func (v *watch) saw(n int64, l level) {
	if n > v.from && (!v.looked || l < v.least) {
		v.looked, v.least = true, l
	}
}

// rise takes how ready the server is. What a follower's call is told stays so.
func (v *watch) rise(now level) {
	if !v.waits && v.remote {
		return
	}
	v.risen = unanswered
	if v.looked && now >= accepting && now > v.least {
		v.risen = now
	}
	v.rose = min(v.rose, v.risen)
}

// Seen implements host.Watch.
func (v *watch) Seen() host.Seen {
	w := v.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	lately := w.latest > v.from && time.Since(w.ended) <= fresh
	why := ""
	if w.denied != 0 {
		why = "the health check is answered " + strconv.Itoa(w.denied) + ", so that only the port is looked at"
	}
	return host.Seen{
		Why:      why,
		Rose:     readiness[v.rose],
		Down:     lately && w.level == down,
		NotReady: lately && w.level == loading,
	}
}

var readiness = map[level]abi.Readiness{accepting: abi.Accepting, healthy: abi.Ready}

// Waits implements host.Turns.
func (v *watch) Waits(by abi.Readiness, held, rest time.Duration) {
	w := v.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.place == nil {
		return
	}
	least := accepting
	if by == abi.Ready {
		least = healthy
	}
	stop(v.held, v.due)
	v.due = time.AfterFunc(max(0, rest-before), v.peek)
	if held <= 0 && v.waits && v.by == least {
		return // it keeps its place
	}
	if w.shared.follows {
		v.rose = unanswered // its turn has passed
	}
	v.by, v.waits = least, false
	v.held = time.AfterFunc(held, v.wait)
}

func stop(timers ...*time.Timer) {
	for _, t := range timers {
		if t != nil {
			t.Stop()
		}
	}
}

// wait has the watch told from now on.
func (v *watch) wait() {
	w := v.watcher
	w.mu.Lock()
	var told []*watch
	if v.place != nil {
		v.waits = true
		w.shared.wait(v)
		told = w.deal()
	}
	w.mu.Unlock()
	news(told)
}

// peek looks where another does otherwise: no attempt of the schedule is left out
// for what that says.
func (v *watch) peek() {
	w := v.watcher
	w.mu.Lock()
	ctx, looks := w.ctx, v.place != nil && w.shared.follows
	w.mu.Unlock()
	if looks {
		w.begin(ctx, time.Now(), true)
	}
}

// Stop implements host.Watch. No news comes after those that are under way.
func (v *watch) Stop() { v.watcher.among.leave(v) }

// Went implements host.Turns.
func (v *watch) Went(how host.How) {
	w := v.watcher
	w.mu.Lock()
	switch how {
	case host.Answered:
		w.turns.Answered(v, time.Now())
	case host.Failed:
		w.turns.Failed(v, time.Now())
	default:
		w.turns.Left(v)
	}
	w.shared.went(v, how)
	told := w.deal()
	w.rest()
	w.mu.Unlock()
	news(told)
}
