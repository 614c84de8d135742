// Package turns has the rules by which those who wait for a server go to it one after
// another once it is back. docs/looking.md says them; package ready goes by them, and
// package simulate plays them.
package turns

import "time"

const (
	// Lease is how long a turn lasts that is not told of (a choice: it may be that of
	// a process which is stopped or dead).
	Lease = time.Second
	// busy and full are how many times as long as the fastest an attempt takes from a
	// server, or on a machine, that should not be given more, and that should be given
	// less (choices).
	busy, full = 3, 6
	// pauses are how often the pause after failures doubles, from one second on.
	pauses = 2
)

// Turns are those of the callers of one server, on any clock. The window, how many
// may be under way, is 1 at the server's return, and grows as they are answered. The
// zero value is such a return.
type Turns[K comparable] struct {
	more    int           // the window beyond 1
	out     map[K]turn    // under way
	fastest time.Duration // of those that were answered; 0: none was
	failed  int           // in a row
	held    time.Time     // no turn is given before
}

// turn is since when a place is taken, and when the attempt began: who has a turn
// looks first, and that says nothing of how fast the server answers.
type turn struct{ taken, began time.Time }

// Begin has a caller's turn be under way: as it is given, and again as the attempt
// begins, which makes it last no longer.
func (t *Turns[K]) Begin(of K, now time.Time) {
	if t.out == nil {
		t.out = map[K]turn{}
	}
	had, out := t.out[of]
	if !out {
		had.taken = now
	}
	t.out[of] = turn{had.taken, now}
}

// Out says whether a caller's turn is under way.
func (t *Turns[K]) Out(of K) bool {
	_, out := t.out[of]
	return out
}

// Left ends a turn of which nothing is known.
func (t *Turns[K]) Left(of K) { delete(t.out, of) }

// Answered ends a turn whose attempt the server answered.
func (t *Turns[K]) Answered(of K, now time.Time) {
	turn, out := t.out[of]
	if !out {
		return
	}
	delete(t.out, of)
	t.failed = 0
	took := now.Sub(turn.began)
	if t.fastest == 0 || took < t.fastest {
		t.fastest = took
	}
	switch {
	case took < busy*t.fastest:
		t.more++
	case took > full*t.fastest:
		t.shrink()
	}
}

// Failed ends a turn whose attempt failed.
func (t *Turns[K]) Failed(of K, now time.Time) {
	if !t.Out(of) {
		return
	}
	delete(t.out, of)
	if t.more > 0 {
		t.more = (t.more+1)/2 - 1
		return
	}
	t.held = now.Add(time.Second << min(t.failed, pauses))
	t.failed++
}

// Expire frees the places of those who said nothing for too long. Before anything
// was answered that lets more go, since attempts may just take long; later fewer.
func (t *Turns[K]) Expire(now time.Time) {
	for of, turn := range t.out {
		if now.Sub(turn.taken) < Lease {
			continue
		}
		delete(t.out, of)
		if t.fastest == 0 {
			t.more++
		} else {
			t.shrink()
		}
	}
}

func (t *Turns[K]) shrink() { t.more = max(0, t.more-1) }

// Free says whether another turn may begin.
func (t *Turns[K]) Free(now time.Time) bool { return len(t.out) <= t.more && !now.Before(t.held) }

// Held is until when no turn is given after failures; zero: there was none.
func (t *Turns[K]) Held() time.Time { return t.held }
