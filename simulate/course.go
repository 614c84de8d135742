package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outlast/abi"
)

// Course is what a call does while its server does not come back, for one
// sequence of jitter. Until an attempt meets a server that is up, the outage's
// length changes nothing. So one course is enough for outages of every length: it
// outlasts those that end before its last attempt, or with it.
type Course struct {
	Starts []time.Duration // of its attempts, from the call's beginning
	Events int
	Chance Chance
	End    *abi.Outcome
}

// Last is the start of the last attempt: the longest outage that is outlasted
// by a call which begins with it.
func (c *Course) Last() time.Duration { return c.Starts[len(c.Starts)-1] }

// Lag is how long at most such a call goes on waiting once the server is back,
// for an outage of a length and whatever its moment to begin; begin is the worst.
func (c *Course) Lag(outage time.Duration) (lag, begin time.Duration) {
	for i := 1; i < len(c.Starts) && c.Starts[i-1] < outage; i++ {
		// The server comes back just after attempt i-1.
		back := min(c.Starts[i-1]+time.Microsecond, outage)
		if gap := c.Starts[i] - back; gap > lag {
			lag, begin = gap, outage-back
		}
	}
	return lag, begin
}

// Courses finds the courses of the jitter that matter.
type Courses struct {
	New     func() Decider // one for each call
	Takes   time.Duration  // that an attempt needs to fail
	Results Results
}

// NotRetried says that a policy does not wait through the failure it is given.
type NotRetried struct{ Outcome abi.Outcome }

func (e *NotRetried) Error() string {
	return fmt.Sprintf("the policy does not wait through the failure, which is %s to it: %s", e.Outcome.Kind, e.Outcome.Message)
}

// MaxCourse bounds the attempts of a course (a choice: a window of minutes has
// tens of them, and the search plays a course a hundred times and more).
const MaxCourse = 500

// TooMany says that a course was given up after MaxCourse attempts.
type TooMany struct{ Within time.Duration } // from the call's beginning on

func (e *TooMany) Error() string {
	short := "its delays are very short"
	if e.Within == 0 {
		short = "its delays may be nothing"
	}
	return fmt.Sprintf("%s: it makes %d attempts in %.3g s with the worst jitter, and then more; so many are not followed", short, MaxCourse, e.Within.Seconds())
}

// bounded is a decider that gives up.
type bounded struct {
	Decider
	attempts int
}

// Next implements Decider.
func (b *bounded) Next(ctx context.Context, e abi.Event) (abi.Action, error) {
	if e.Type == abi.Attempted {
		b.attempts++
	}
	a, err := b.Decider.Next(ctx, e)
	if err == nil && b.attempts == MaxCourse && a.Type == abi.Retry {
		err = &TooMany{time.Duration(e.NowUS) * time.Microsecond}
	}
	return a, err
}

// Extremes are the courses with the smallest and the largest chance throughout,
// and those between at which the number of attempts changes: there, an attempt
// that ends at the deadline or just past it is the last one, so that the course
// ends as early as any does. The first one is the worst: it ends the earliest.
//
// Why no other mix is worse: a delay grows, or shrinks, steadily with its
// chance, so attempt n starts the earliest and the latest with the same chance
// throughout; every time between is met by some chance that is the same
// throughout too. If the number of attempts is the same at both ends it is the
// same for every mix.
//
// The error is a *NotRetried, a *TooMany, or the decider's.
func (c *Courses) Extremes(ctx context.Context) ([]*Course, error) {
	low, err := c.same(ctx, 0)
	if err != nil {
		return nil, err
	}
	high, err := c.same(ctx, MaxChance)
	if err != nil {
		return nil, err
	}
	list := []*Course{low, high}
	if len(low.Starts) != len(high.Starts) {
		for _, towards := range []*Course{low, high} {
			pair, err := c.change(ctx, low, high, len(towards.Starts))
			if err != nil {
				return nil, err
			}
			list = append(list, pair...)
		}
	}
	for i := range list {
		if list[i].Last() < list[0].Last() {
			list[0], list[i] = list[i], list[0]
		}
	}
	return list, nil
}

// change finds where, between two courses, the number of attempts changes from
// n, or to it: first in the chance of all events, then event by event.
func (c *Courses) change(ctx context.Context, low, high *Course, n int) ([]*Course, error) {
	here := func(a *Course) bool { return (len(a.Starts) == n) == (len(low.Starts) == n) }
	a, b := int64(0), int64(MaxChance)
	for b-a > 1 {
		middle := (a + b) / 2
		course, err := c.same(ctx, middle)
		if err != nil {
			return nil, err
		}
		if here(course) {
			a, low = middle, course
		} else {
			b, high = middle, course
		}
	}
	for from, to := 0, max(low.Events, high.Events); to-from > 1; {
		events := (from + to) / 2
		course, err := c.play(ctx, func(event int) int64 {
			if event < events {
				return b
			}
			return a
		})
		if err != nil {
			return nil, err
		}
		if here(course) {
			from, low = events, course
		} else {
			to, high = events, course
		}
	}
	return []*Course{low, high}, nil
}

func (c *Courses) same(ctx context.Context, u int64) (*Course, error) {
	return c.play(ctx, func(int) int64 { return u })
}

// play plays a call whose server does not come back.
func (c *Courses) play(ctx context.Context, chance Chance) (*Course, error) {
	never := &Scene{Away: []Span{{0, 1<<63 - 1}}, Takes: c.Takes, Results: c.Results}
	story, err := Play(ctx, &bounded{Decider: c.New()}, never, 0, chance)
	if err != nil {
		return nil, err
	}
	if story.Outcome.Type != abi.OutcomeExhausted {
		return nil, &NotRetried{story.Outcome}
	}
	return &Course{Starts: story.Starts(), Events: len(story.Moments), Chance: chance, End: &story.Outcome}, nil
}

// Confirm plays a call through an outage itself, by a course, and compares what
// happens with what the course says.
func (c *Courses) Confirm(ctx context.Context, course *Course, outage, begin time.Duration) (*Story, error) {
	scene := &Scene{Away: []Span{{0, outage}}, Takes: c.Takes, Results: c.Results}
	story, err := Play(ctx, c.New(), scene, begin, course.Chance)
	if err != nil {
		return nil, err
	}
	want, found := time.Duration(0), false
	for _, start := range course.Starts {
		if want = start; begin+start >= outage {
			found = true
			break
		}
	}
	if story.OK() != found || story.Last() != begin+want {
		return nil, errors.New("the plugin decides otherwise in the outage than in one that never ends")
	}
	return story, nil
}

// SmallestWindow is the shortest window, in whole milliseconds, with which a
// call outlasts an outage of a length in every course; 0 if a window of sixteen
// times the outage is not enough, since something else then ends the call. with
// gives the courses under a window.
func SmallestWindow(ctx context.Context, outage, takes time.Duration, with func(window time.Duration) (*Courses, error)) (time.Duration, error) {
	enough := func(ms int64) (bool, error) {
		courses, err := with(time.Duration(ms) * time.Millisecond)
		if err != nil {
			return false, err
		}
		list, err := courses.Extremes(ctx)
		return err == nil && list[0].Last() >= outage, err
	}
	// A longer window never ends a course earlier, so it is found by halving. It
	// is near the outage unless the policy is an unusual one.
	low, high := max(0, (outage-takes)/time.Millisecond-1), (outage+takes)/time.Millisecond+1
	bounds := []int64{0, int64(low), int64(high), int64(16 * outage / time.Millisecond)}
	for i := 1; i < len(bounds); i++ {
		if bounds[i] <= bounds[i-1] {
			continue
		}
		does, err := enough(bounds[i])
		if err != nil {
			return 0, err
		}
		if does {
			return halve(bounds[i-1], bounds[i], enough)
		}
	}
	return 0, nil
}

// halve finds the smallest number above low that does; high does.
func halve(low, high int64, does func(int64) (bool, error)) (time.Duration, error) {
	for high-low > 1 {
		middle := (low + high) / 2
		yes, err := does(middle)
		switch {
		case err != nil:
			return 0, err
		case yes:
			high = middle
		default:
			low = middle
		}
	}
	return time.Duration(high) * time.Millisecond, nil
}
