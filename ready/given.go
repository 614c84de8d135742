package ready

import (
	"strconv"
	"time"

	"outlast/host"
	"outlast/internal/turns"
	"outlast/ready/meeting"
)

// turn takes that a looker gives a call its turn. What it says may be wrong, and a
// call that was woken in vain has lost an attempt. So the process looks itself first.
func (w *watcher) turn(id string, at level, until time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.own(id)
	switch {
	case v == nil, v.given != unanswered, v.back != nil: // it has gone, or did not ask for another
	case !v.waits, at < v.by, until <= meeting.Boot():
		w.givesBack(v)
	default:
		v.given, v.since = at, w.looks
		w.shared.check = true
		w.start(w.ctx, time.Now(), true)
	}
}

// own is this process's call with an ID that a looker knows; nil: there is none.
func (w *watcher) own(id string) *watch {
	number, _ := strconv.ParseInt(id, 10, 64) // it was parsed
	for e := w.line.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*watch); !v.remote && v.number == number {
			return v
		}
	}
	return nil
}

// check has look n decide on the turns that were given before it began.
func (w *watcher) check(n int64, l level) (told []*watch) {
	for e := w.line.Front(); e != nil; e = e.Next() {
		v := e.Value.(*watch)
		switch {
		case v.given == unanswered || n <= v.since:
		case !v.waits || min(v.given, l) < v.by:
			w.givesBack(v)
		default:
			v.rose, v.given = min(v.given, l), unanswered
			v.waitsAgain(turns.Lease) // unless it goes, as when it was woken between two waits
			told = append(told, v)
		}
	}
	return told
}

// givesBack tells the looker that a call does not take its turn. It waits again, but
// not at once: a looker that gives it the same again keeps nobody busy.
func (w *watcher) givesBack(v *watch) {
	v.given = unanswered
	if s := &w.shared; s.to != nil {
		s.to.Say("done", v.id(), string(host.Left))
	}
	v.waitsAgain(declines)
}

// waitsAgain has the looker told after a time that the call waits, unless that is
// told before.
func (v *watch) waitsAgain(after time.Duration) {
	v.back = time.AfterFunc(after, func() {
		v.watcher.mu.Lock()
		defer v.watcher.mu.Unlock()
		if v.place != nil {
			v.watcher.shared.wait(v)
		}
	})
}
