package ready

import (
	"time"

	"outlast/internal/turns"
)

// beginTurns forgets the turns there were: the server is back, or away.
func (w *watcher) beginTurns() { w.turns, w.dealt = turns.Turns[*watch]{}, time.Time{} }

// deal gives the turns that are free, and says to whom; w.mu is held. The last own
// call of this process comes last: the process may end with it, and all looks.
func (w *watcher) deal() (told []*watch) {
	if w.shared.follows || !w.up {
		return nil // another gives them, or nobody
	}
	now := time.Now()
	if !w.dealt.IsZero() && now.Sub(w.dealt) > turns.Lease {
		w.beginTurns() // the process was stopped, and all places would be free at once
	}
	w.dealt = now
	w.turns.Expire(now)
	give := func(v *watch) {
		w.turns.Begin(v, now)
		v.rose = v.risen
		v.waits = !v.remote // a follower's call has one turn each time that it waits
		told = append(told, v)
	}
	var last *watch
	for e := w.line.Front(); e != nil; e = e.Next() {
		v := e.Value.(*watch)
		switch {
		case !v.waits || v.risen <= v.rose || v.risen < v.by:
		case w.turns.Out(v): // it has its place, and the server is readier than it was
			give(v)
		case !w.turns.Free(now):
			return told
		case !v.remote && w.locals == 1:
			last = v
		default:
			give(v)
		}
	}
	if last != nil && w.turns.Free(now) {
		give(last)
	}
	return told
}
