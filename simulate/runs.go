package simulate

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Runs are many independent calls, each with jitter and an outage of its own.
type Runs struct {
	Scene Scene // but for Away
	N     int   // from 1 to MaxRuns
	Begin func(n int) time.Duration
	Away  func(n int) []Span
	New   func(n int) Decider
	// Check gives the plugin's decider for a run; a sample of the runs is played
	// with it again.
	Check func(n int) Decider
}

// MaxRuns bounds the runs (a choice: minutes of work).
const MaxRuns = 1_000_000

// Summary is what the runs came to.
type Summary struct {
	Runs     int
	OK       int
	Attempts int             // of all runs
	Lags     []time.Duration // of those that succeeded: from the server's return on; sorted
	Worst    int             // the run to look at: one that failed, else the one with the longest lag
	Checked  int             // runs that the plugin played too
}

// Mean is the lags' mean; 0 if there are none.
func (s *Summary) Mean() time.Duration {
	sum := 0.0
	for _, lag := range s.Lags {
		sum += float64(lag)
	}
	return time.Duration(sum / float64(max(1, len(s.Lags))))
}

// Quantile is the lag that a share of the runs does not pass; 0 if there are none.
func (s *Summary) Quantile(share float64) time.Duration {
	if len(s.Lags) == 0 {
		return 0
	}
	return s.Lags[min(int(share*float64(len(s.Lags))), len(s.Lags)-1)]
}

// Lag is how long after the server's return a call that succeeded went on.
func (s *Story) Lag(away []Span) time.Duration {
	back := s.Begin
	for _, o := range away {
		if o.To <= s.Last() {
			back = max(back, o.To)
		}
	}
	return s.Last() - back
}

// Play plays run n, with a decider.
func (r *Runs) Play(ctx context.Context, n int, d Decider) (*Story, *Scene, error) {
	scene := r.Scene
	scene.Away = r.Away(n)
	story, err := Play(ctx, d, &scene, r.Begin(n), nil)
	return story, &scene, err
}

// Run plays them all, on every processor.
func (r *Runs) Run(ctx context.Context) (*Summary, error) {
	if r.N < 1 || r.N > MaxRuns {
		return nil, fmt.Errorf("runs: expected from 1 to %d, not %d", MaxRuns, r.N)
	}
	parts := make([]runsWorker, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			for parts[i].err == nil {
				n := int(next.Add(1)) - 1
				if n >= r.N {
					return
				}
				parts[i].play(ctx, r, n)
			}
		})
	}
	wait.Wait()
	return r.sum(parts)
}

// runsWorker has the counts of one processor.
type runsWorker struct {
	Summary
	failed bool          // Worst is a run that failed
	lag    time.Duration // of Worst
	err    error
}

func (w *runsWorker) play(ctx context.Context, r *Runs, n int) {
	story, scene, err := r.Play(ctx, n, r.New(n))
	if err != nil {
		w.err = err
		return
	}
	if r.Check != nil && n%max(1, r.N/sampled) == 0 {
		again, _, err := r.Play(ctx, n, r.Check(n))
		if err == nil && !reflect.DeepEqual(again, story) {
			err = fmt.Errorf("run %d: the plugin decides otherwise than the policy package: %s, not %s", n, again.Outcome.Encode(), story.Outcome.Encode())
		}
		if w.err = err; err != nil {
			return
		}
		w.Checked++
	}
	w.Attempts += len(story.Starts())
	lag := time.Duration(0)
	if story.OK() {
		lag = story.Lag(scene.Away)
		w.Lags = append(w.Lags, lag)
		w.OK++
	}
	w.worst(n, !story.OK(), lag)
	w.Runs++
}

// worst keeps the worst run: of equals the first.
func (w *runsWorker) worst(n int, failed bool, lag time.Duration) {
	switch {
	case w.Runs == 0, failed && !w.failed, failed == w.failed && lag > w.lag,
		failed == w.failed && lag == w.lag && n < w.Worst:
		w.Worst, w.failed, w.lag = n, failed, lag
	}
}

func (r *Runs) sum(parts []runsWorker) (*Summary, error) {
	var all runsWorker
	for _, p := range parts {
		if p.err != nil {
			return nil, p.err
		}
		if p.Runs > 0 {
			all.worst(p.Worst, p.failed, p.lag)
		}
		all.Runs += p.Runs
		all.OK += p.OK
		all.Attempts += p.Attempts
		all.Checked += p.Checked
		all.Lags = append(all.Lags, p.Lags...)
	}
	slices.Sort(all.Lags)
	return &all.Summary, nil
}
