package goodput

import (
	"slices"
	"time"
)

// Figures are what came of a trial. All but Waiting and GivenUp are since the server's
// return.
type Figures struct {
	Waiting  int      // calls, when the server came back
	Seconds  []Second // one after the other
	Densest  int      // the most requests that came in any 100 ms
	Queue    int      // the longest
	Came     int      // requests
	Answered int      // calls that ended well
	Refused  int      // requests that found no room
	Left     int      // that were served although their caller had gone
	GivenUp  int      // calls that ended in an error
	// Drained is when none of those that waited was left; 0: some were at the end.
	Drained time.Duration
}

// Second is one second of a trial.
type Second struct {
	Came, Answered int
	Queue          int // the longest
}

// Goodput is how much of the server's capacity is calls that end well, from its
// return on.
func (f *Figures) Goodput(capacity, seconds int) float64 {
	answered := 0
	for _, s := range f.Seconds[:seconds] {
		answered += s.Answered
	}
	return float64(answered) / float64(capacity*seconds)
}

func (t *Trial) figures(calls []ended, saw *seen) *Figures {
	f := &Figures{
		Seconds: make([]Second, t.After/time.Second), Came: len(saw.Came),
		Densest: densest(saw.Came, 100*time.Millisecond), Refused: saw.Refused, Left: saw.Left,
	}
	second := func(at int64) *Second {
		if i := (at - saw.Up) / int64(time.Second); at >= saw.Up && i < int64(len(f.Seconds)) {
			return &f.Seconds[i]
		}
		return &Second{} // before, or while the trial ends
	}
	for i, at := range saw.Came {
		s := second(at)
		s.Came++
		s.Queue = max(s.Queue, saw.Queue[i])
		f.Queue = max(f.Queue, saw.Queue[i])
	}
	goOn := false
	for _, c := range calls {
		waited := c.Began < saw.Up && (c.Ended == 0 || c.Ended > saw.Up)
		switch {
		case c.Ended == 0:
			goOn = goOn || waited
		case !c.OK:
			f.GivenUp++
		case c.Ended > saw.Up:
			f.Answered++
			second(c.Ended).Answered++
		}
		if waited {
			f.Waiting++
			f.Drained = max(f.Drained, time.Duration(c.Ended-saw.Up))
		}
	}
	if goOn {
		f.Drained = 0
	}
	return f
}

// densest is how many of the times lie within one span.
func densest(times []int64, span time.Duration) (most int) {
	times = slices.Sorted(slices.Values(times))
	first := 0
	for i, at := range times {
		for at-times[first] >= int64(span) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
