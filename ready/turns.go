package ready

import (
	"time"

	"outlast/host"
)

const (
	// lease is how long a turn lasts that is not told of (a choice: it may be that of
	// a process which is stopped or dead).
	lease = time.Second
	// busy and full are how many times as long as the fastest an attempt takes from a
	// server, or on a machine, that should not be given more, and that should be given
	// less (choices).
	busy, full = 3, 6
	// pauses are how often the pause after failures doubles, from one second on.
	pauses = 2
)

// turns are those of the watches that go to a server which is back. The window,
// how many may be under way, is 1 at its return, and grows as they are answered.
// docs/looking.md has the rules.
type turns struct {
	window  int
	out     map[*watch]time.Time // under way, since when
	fastest time.Duration        // of those that were answered; 0: none was
	failed  int                  // in a row
	held    time.Time            // no turn is given before
	dealt   time.Time            // when any could last be given; zero: never
}

func (t *turns) reset() { *t = turns{window: 1, out: map[*watch]time.Time{}} }

// went takes how an attempt ended.
func (t *turns) went(v *watch, how host.How, now time.Time) {
	since, out := t.out[v]
	if !out {
		return
	}
	delete(t.out, v)
	switch how {
	case host.Answered:
		t.answered(now.Sub(since))
	case host.Failed:
		if t.window /= 2; t.window == 0 {
			t.window = 1
			t.held = now.Add(time.Second << min(t.failed, pauses))
			t.failed++
		}
	}
}

func (t *turns) answered(took time.Duration) {
	t.failed = 0
	if t.fastest == 0 || took < t.fastest {
		t.fastest = took
	}
	switch {
	case took < busy*t.fastest:
		t.window++
	case took > full*t.fastest:
		t.window = max(1, t.window-1)
	}
}

// expire frees the places of those who said nothing for too long. Before anything
// was answered that lets more go, since attempts may just take long; later fewer.
func (t *turns) expire(now time.Time) {
	for v, since := range t.out {
		if now.Sub(since) >= lease {
			delete(t.out, v)
			if t.fastest == 0 {
				t.window++
			} else {
				t.window = max(1, t.window-1)
			}
		}
	}
}

// deal gives the turns that are free, and says to whom; w.mu is held. The last own
// call of this process comes last: the process may end with it, and all looks.
func (w *watcher) deal() (told []*watch) {
	if w.shared.follows {
		return nil // another gives them
	}
	t, now := &w.turns, time.Now()
	if !t.dealt.IsZero() && now.Sub(t.dealt) > lease {
		t.reset() // the process was stopped, and all places would be free at once
	}
	t.dealt = now
	t.expire(now)
	give := func(v *watch) {
		if _, out := t.out[v]; !out {
			t.out[v] = now
		}
		v.rose = v.risen
		told = append(told, v)
	}
	free := func() bool { return len(t.out) < t.window && !now.Before(t.held) }
	var last *watch
	for e := w.line.Front(); e != nil; e = e.Next() {
		v := e.Value.(*watch)
		_, out := t.out[v]
		switch {
		case !v.waits || v.risen <= v.rose || v.risen < v.by:
		case out: // it has its place, and the server is readier than it was
			give(v)
		case !free():
			return told
		case !v.remote && w.locals == 1:
			last = v
		default:
			give(v)
		}
	}
	if last != nil && free() {
		give(last)
	}
	return told
}
