package turns

import (
	"testing"
	"time"
)

// What the window does, played with attempts that take some time each.
func TestTheWindow(t *testing.T) {
	now := time.Unix(0, 0)
	var w Turns[int]
	last := 0
	begin := func() int {
		last++
		w.Begin(last, now)
		return last
	}
	window := func() int { return w.more + 1 }
	for range 5 { // each round in the time of one attempt
		round := []int{}
		for w.Free(now) {
			round = append(round, begin())
		}
		now = now.Add(50 * time.Millisecond)
		for _, v := range round {
			w.Answered(v, now)
		}
	}
	if window() < 16 || window() > 32 {
		t.Errorf("a window of %d after five rounds", window())
	}
	v := begin()
	before := window()
	if w.Failed(v, now); window() != before/2 || !w.Free(now) {
		t.Errorf("a window of %d after a failure, of %d before", window(), before)
	}
	for range before { // slower by far
		w.Answered(begin(), now.Add(time.Second))
	}
	if window() != 1 {
		t.Errorf("a window of %d, once attempts are slow", window())
	}
	for i, want := range []time.Duration{1, 2, 4, 4} {
		w.Failed(begin(), now)
		if window() != 1 || w.Held().Sub(now) != want*time.Second || w.Free(now) || !w.Free(now.Add(want*time.Second)) {
			t.Errorf("failure %d: held for %v", i, w.Held().Sub(now))
		}
	}
	w.Answered(begin(), now.Add(time.Millisecond))
	if w.failed != 0 {
		t.Error("an answer does not count")
	}
}

func TestTurnsThatAreNotToldOf(t *testing.T) {
	now := time.Unix(0, 0)
	var w Turns[int]
	for i, want := range []int{2, 3, 4, 3} {
		if i == 3 {
			w.fastest = time.Second
		}
		w.Begin(i, now)
		w.Expire(now.Add(Lease))
		w.Failed(i, now.Add(Lease)) // too late
		w.Answered(i, now.Add(Lease))
		if w.more+1 != want || w.Out(i) {
			t.Errorf("a window of %d after %d turns that were not told of", w.more+1, i+1)
		}
	}
}

// A turn counts from its beginning, also where the attempt begins later, and one of
// which nothing is known leaves the window as it is.
func TestBeginAndLeft(t *testing.T) {
	now := time.Unix(0, 0)
	var w Turns[int]
	w.Begin(1, now)
	w.Begin(1, now.Add(Lease/2))
	if w.Free(now) {
		t.Error("two turns at once")
	}
	if w.Left(1); w.Out(1) || w.more != 0 || !w.Free(now) {
		t.Errorf("a window of %d after a turn of which nothing is known", w.more+1)
	}
	w.Begin(1, now)
	w.Begin(1, now.Add(Lease/2))
	if w.Expire(now.Add(Lease)); w.Out(1) {
		t.Error("a turn lasts longer where its attempt begins late")
	}
}

// What passes between a turn and its attempt, such as a look, is not the server's.
func TestAnAttemptTakesFromItsBeginning(t *testing.T) {
	now := time.Unix(0, 0)
	var w Turns[int]
	for i, before := range []time.Duration{0, 100 * time.Millisecond} {
		w.Begin(i, now)
		now = now.Add(before)
		w.Begin(i, now)
		now = now.Add(5 * time.Millisecond)
		w.Answered(i, now)
	}
	if w.more != 2 {
		t.Errorf("a window of %d after two answers", w.more+1)
	}
}
