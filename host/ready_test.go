package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// eyes are a Readiness in virtual time, with at most one watch at a time.
type eyes struct {
	t     *testing.T
	seen  func() host.Seen
	eager []bool
	open  bool
	news  func()
}

func (e *eyes) Watch(eager bool, news func()) host.Watch {
	if e.open {
		e.t.Error("a second watch of one call")
	}
	e.open, e.news, e.eager = true, news, append(e.eager, eager)
	return e
}

func (e *eyes) Seen() host.Seen { return e.seen() }
func (e *eyes) Stop()           { e.open = false }

// interrupted is a clock whose sleeps meet news at given times, and end when
// that cut them short.
type interrupted struct {
	virtual.Clock
	at   []time.Duration
	tell func()
}

func (c *interrupted) Sleep(ctx context.Context, d time.Duration) error {
	end := c.Now() + d
	for _, at := range c.at {
		if at < c.Now() || at >= end {
			continue
		}
		c.Advance(at - c.Now())
		c.tell()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return c.Clock.Sleep(ctx, end-c.Now())
}

// steadyPolicy has no jitter, and no spread to speak of.
const steadyPolicy = `{"version": 1, "name": "steady",
	"budgets": {"unavailable": {"max_wait": "60s",
		"backoff": {"type": "exponential", "base": "500ms", "multiplier": 2, "cap": "10s"},
		"wake": {"reads": "accepting", "writes": "ready", "spread": "1us", "hold_off": "1s", "max_vain": 3}}},
	"rules": [
		{"kind": "unavailable", "when": [{"text": [{"in": "cause", "at": 2, "is": ["tcp connect error"]}]}],
		 "then": [{"retry": "unavailable"}]},
		{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]}`

// A wait is cut short by enough readiness, by nothing less, and not before a
// hold-off is over; nobody watches while an attempt runs, or after the call.
func TestWaitsAreCutShort(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		read  bool
		rises []time.Duration // when the server is seen to rise
		by    abi.Readiness
		up    time.Duration
		want  []time.Duration // when the attempts start
		eager []bool          // the watches
	}{
		{"a read by a connection", true, []time.Duration{9 * s}, abi.Accepting, 9 * s,
			[]time.Duration{0, s / 2, 3 * s / 2, 7 * s / 2, 15 * s / 2, 9 * s}, []bool{true, true, true, true, true}},
		{"a write not by a connection", false, []time.Duration{9 * s}, abi.Accepting, 9 * s,
			[]time.Duration{0, s / 2, 3 * s / 2, 7 * s / 2, 15 * s / 2, 31 * s / 2}, []bool{true, true, true, true, true}},
		{"a write by readiness", false, []time.Duration{9 * s}, abi.Ready, 9 * s,
			[]time.Duration{0, s / 2, 3 * s / 2, 7 * s / 2, 15 * s / 2, 9 * s}, []bool{true, true, true, true, true}},
		{"a wake that fails, and then the hold-off", true, []time.Duration{4 * s, 9 * s / 2, 5 * s}, abi.Ready, 5 * s,
			[]time.Duration{0, s / 2, 3 * s / 2, 7 * s / 2, 4 * s, 5 * s}, []bool{true, true, true, true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			throughAll(t, func(t *testing.T, d door) {
				clock := &interrupted{at: c.rises}
				e := &eyes{t: t, seen: func() host.Seen {
					if slices.Contains(c.rises, clock.Now()) {
						return host.Seen{Rose: c.by}
					}
					return host.Seen{}
				}}
				clock.tell = func() {
					if e.open {
						e.news()
					}
				}
				var starts []time.Duration
				outcome, err := d.run(compiled, context.Background(), &host.Task{
					Policy: mustPolicy(t, steadyPolicy), Clock: clock, Ready: e,
					Call: host.Call{Remote: true, Read: c.read, Seed: new(int64)},
					Attempt: func(context.Context, int64) (abi.Result, error) {
						starts = append(starts, clock.Now())
						if e.open {
							t.Error("somebody watches while an attempt runs")
						}
						if clock.Now() >= c.up {
							return succeeded(), nil
						}
						return refused(), nil
					},
				})
				if err != nil || outcome.Type != abi.OutcomeOK {
					t.Fatalf("%+v, %v", outcome, err)
				}
				if diff := cmp.Diff(c.want, starts); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(c.eager, e.eager); diff != "" {
					t.Errorf("eager: %s", diff)
				}
				if e.open {
					t.Error("somebody watches when the call is over")
				}
			})
		})
	}
}

// watchedTask is outageTask with a host that sees the server down until the
// outage is over, and from then on nothing.
func watchedTask(t *testing.T, outage time.Duration) (*host.Task, *[]time.Duration) {
	clock := &virtual.Clock{}
	task, starts := outageTask(clock, outage, 0)
	task.Ready = &eyes{t: t, seen: func() host.Seen { return host.Seen{Down: clock.Now() < outage} }}
	return task, starts
}

// Attempts that would fail are left out; those that are made are the schedule's.
func TestAttemptsAreLeftOut(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		plain, all := outageTask(&virtual.Clock{}, 61*time.Second, 0)
		if _, err := d.run(compiled, context.Background(), plain); err != nil {
			t.Fatal(err)
		}
		task, starts := watchedTask(t, 61*time.Second)
		leftOut := 0
		task.Observe = func(e host.Event) {
			if _, ok := e.(host.LeftOut); ok {
				leftOut++
			}
		}
		outcome, err := d.run(compiled, context.Background(), task)
		if err != nil || outcome.Type != abi.OutcomeOK {
			t.Fatalf("%+v, %v", outcome, err)
		}
		want := []time.Duration{0, (*all)[len(*all)-1]}
		if diff := cmp.Diff(want, *starts); diff != "" {
			t.Error(diff)
		}
		if leftOut != len(*all)-2 {
			t.Errorf("%d left out of %d", leftOut, len(*all))
		}
	})
}

// Who says how many attempts a call makes also says how long it takes: by the
// schedule, however down its server is seen to be.
func TestOfCountedAttemptsNoneIsLeftOut(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		plain, want := outageTask(&virtual.Clock{}, time.Hour, 0)
		task, starts := watchedTask(t, time.Hour)
		for _, each := range []*host.Task{plain, task} {
			each.Attempts = 3
			o, err := d.run(compiled, t.Context(), each)
			if err != nil || o.Attempts != 3 || o.Reason != abi.ReasonAttempts {
				t.Errorf("%+v, %v", o, err)
			}
		}
		if diff := cmp.Diff(*want, *starts); diff != "" {
			t.Error(diff)
		}
	})
}

// An instance that dies after it was told how a wait ended: the next one is told
// again, and nothing is spent twice.
func TestInstancesAreReplacedWhileSomebodyWatches(t *testing.T) {
	mortal := build(t, "../plugin/guest", "-tags=outlast_mortal")
	task, starts := watchedTask(t, 61*time.Second)
	want, wantStarts := watchedTask(t, 61*time.Second)
	replaced := 0
	task.Observe = func(e host.Event) {
		if _, ok := e.(host.InstanceReplaced); ok {
			replaced++
		}
	}
	outcome, err := mortal.RunInPlugin(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := compiled.RunInPlugin(context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	if replaced < 2 || outcome.ElapsedUS != expected.ElapsedUS || !cmp.Equal(*starts, *wantStarts) {
		t.Errorf("%d replaced, attempts at %v, want %v: %+v", replaced, *starts, *wantStarts, outcome)
	}
}

// The caller's cancel ends a wait that somebody watches, and the watch.
func TestCancelWhileSomebodyWatches(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		ctx, cancel := context.WithCancel(context.Background())
		e := &eyes{t: t, seen: func() host.Seen { return host.Seen{Rose: abi.Ready} }}
		outcome, err := d.run(compiled, ctx, &host.Task{
			Policy: omnigraph,
			Call:   host.Call{Remote: true}, Ready: e,
			Attempt: func(context.Context, int64) (abi.Result, error) { return refused(), nil },
			Observe: func(event host.Event) {
				if _, ok := event.(host.Waiting); ok {
					cancel()
				}
			},
		})
		if err != nil || outcome.Type != abi.OutcomeCancelled || e.open || len(e.eager) != 1 {
			t.Errorf("%+v, %v", outcome, err)
		}
	})
}

// Why nobody watches is said once, and only in a wait that somebody could watch.
func TestWhyNobodyWatches(t *testing.T) {
	const why = "HTTP_PROXY selects a proxy"
	throughAll(t, func(t *testing.T, d door) {
		for want, policy := range map[int]*host.Policy{1: omnigraph, 0: must(host.BuiltIn("witan-core"))} {
			task, _ := outageTask(&virtual.Clock{}, 10*time.Second, 0)
			task.Policy, task.Unwatched = policy, why
			said := 0
			task.Observe = func(e host.Event) {
				switch e := e.(type) {
				case host.Unwatched:
					if said++; e.Why != why {
						t.Errorf("%+v", e)
					}
				case host.Waiting:
					if e.Watched != "" || e.Again {
						t.Errorf("%+v", e)
					}
				}
			}
			if _, err := d.run(compiled, context.Background(), task); err != nil || said != want {
				t.Errorf("%s: said %d times, %v", policy.Name(), said, err)
			}
		}
	})
}

// So is why less is looked at than was asked for, as a watch says.
func TestWhyLessIsLookedAt(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		task, _ := outageTask(&virtual.Clock{}, 10*time.Second, 0)
		task.Policy, task.Ready = omnigraph, denied{}
		said := 0
		task.Observe = func(e host.Event) {
			if e, ok := e.(host.Unwatched); ok {
				if said++; e.Why != "the health check is answered 404" {
					t.Errorf("%+v", e)
				}
			}
		}
		if _, err := d.run(compiled, context.Background(), task); err != nil || said != 1 {
			t.Errorf("said %d times, %v", said, err)
		}
	})
}

// denied sees nothing, and says why.
type denied struct{}

func (denied) Watch(bool, func()) host.Watch { return denied{} }
func (denied) Seen() host.Seen               { return host.Seen{Why: "the health check is answered 404"} }
func (denied) Stop()                         {}

// A server that is gone again when the call gets to run has woken it all the same. If
// that counted as the wait's end, the attempt would be one of the schedule, too early.
func TestAWakeThatIsOverAtOnce(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		clock := &interrupted{at: []time.Duration{9 * time.Second}}
		rose := abi.Readiness("")
		e := &eyes{t: t, seen: func() host.Seen { return host.Seen{Rose: rose} }}
		clock.tell = func() {
			rose = abi.Ready
			e.news()
			rose = ""
		}
		var starts, wakes []time.Duration
		_, err := d.run(compiled, context.Background(), &host.Task{
			Policy: mustPolicy(t, steadyPolicy), Clock: clock, Ready: e,
			Call: host.Call{Remote: true, Seed: new(int64)},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				starts = append(starts, clock.Now())
				if clock.Now() > 20*time.Second {
					return succeeded(), nil
				}
				return refused(), nil
			},
			Observe: func(event host.Event) {
				if w, ok := event.(host.Woken); ok {
					wakes = append(wakes, w.At)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		const s = time.Second
		if diff := cmp.Diff([]time.Duration{9 * s}, wakes); diff != "" {
			t.Error("wakes:", diff)
		}
		// A wake in vain leaves the schedule as it was.
		if diff := cmp.Diff([]time.Duration{0, s / 2, 3 * s / 2, 7 * s / 2, 15 * s / 2, 9 * s, 31 * s / 2, 51 * s / 2}, starts); diff != "" {
			t.Error("attempts:", diff)
		}
	})
}

// inTurn are eyes whose watches hear how the attempt after them ended.
type inTurn struct {
	*eyes
	went []host.How
}

func (i *inTurn) Watch(eager bool, news func()) host.Watch {
	i.eyes.Watch(eager, news)
	return i
}

func (i *inTurn) Waits(abi.Readiness, time.Duration, time.Duration) {}
func (i *inTurn) Went(how host.How)                                 { i.went = append(i.went, how) }

// A call that ends without an outcome gives its turn back: those who wait for the same
// server would be held up by it.
func TestATurnIsGivenBack(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		for name, fault := range map[string]func() (abi.Result, error){
			"an attempt that cannot be made": func() (abi.Result, error) { return abi.Result{}, errors.New("no") },
			"one that panics":                func() (abi.Result, error) { panic("no") },
		} {
			sees := &inTurn{eyes: &eyes{t: t, seen: func() host.Seen { return host.Seen{} }}}
			func() {
				defer func() { recover() }()
				d.run(compiled, context.Background(), &host.Task{
					Policy: mustPolicy(t, steadyPolicy), Clock: &virtual.Clock{}, Ready: sees,
					Call: host.Call{Remote: true, Read: true},
					Attempt: func(_ context.Context, n int64) (abi.Result, error) {
						if n == 1 {
							return refused(), nil
						}
						return fault()
					},
				})
			}()
			if sees.open || !slices.Equal(sees.went, []host.How{host.Left}) {
				t.Errorf("%s: %v, and it is watched: %v", name, sees.went, sees.open)
			}
		}
	})
}
