package ready

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"outlast/abi"
	"outlast/host"
)

// The tests of this file play whole outages through the real watcher, the real
// drive loops and the real plugin, in the time of a synctest bubble. Only the
// look at the server is made up.

// server0 is what an attempt and a look meet, so long after the start.
type server0 struct {
	attempt func(at time.Duration) abi.Result
	look    func(at time.Duration) level
}

// story is how a call went.
type story struct {
	starts  []time.Duration // of its attempts
	looks   int
	outcome *abi.Outcome
	events  []host.Event
}

func (s *story) last() time.Duration { return s.starts[len(s.starts)-1] }

type bubbleClock struct{ start time.Time }

func (c bubbleClock) Now() time.Duration { return time.Since(c.start) }

func (c bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	return host.SystemClock().Sleep(ctx, d)
}

type door struct {
	name string
	run  func(*host.Plugin, context.Context, *host.Task) (*abi.Outcome, error)
}

var doors = []door{{"Run", (*host.Plugin).Run}, {"RunInPlugin", (*host.Plugin).RunInPlugin}}

// play runs a call against a made-up server; without look nobody watches.
func play(t *testing.T, d door, call host.Call, s server0) (told story) {
	t.Helper()
	// Whatever the plugin needs to be loaded is loaded outside the bubble.
	if _, err := compiled.Describe(context.Background()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		clock, looks := bubbleClock{time.Now()}, atomic.Int64{}
		r := newRegistry(func(ctx context.Context, _ *Target) (level, int) {
			looks.Add(1)
			l := s.look(clock.Now())
			if l == unanswered {
				<-ctx.Done()
			}
			return l, 0
		}, nil)
		task := &host.Task{
			Policy: graphs, Call: call, Clock: clock,
			Attempt: func(context.Context, int64) (abi.Result, error) {
				told.starts = append(told.starts, clock.Now())
				return s.attempt(clock.Now()), nil
			},
			Observe: func(e host.Event) { told.events = append(told.events, e) },
		}
		if s.look != nil {
			task.Ready = server{Target{Scheme: "http", Host: "h", Port: "80", Path: "/healthz"}, r}
		}
		var err error
		if told.outcome, err = d.run(compiled, t.Context(), task); told.outcome == nil {
			t.Fatal(err)
		}
		told.looks = int(looks.Load())
		if len(r.byTarget) > 0 {
			t.Error("somebody still watches")
		}
	})
	return told
}

// whole is what follows a report that is known not to be cut.
const whole = "\nLocation:\n   crates/omnigraph-cli/src/helpers.rs:515\n"

const refusedReport = "Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n   1: client error (Connect)\n   2: tcp connect error\n" + whole
const proxiedReport = "Error: \n   0: server returned 503 Service Unavailable: no healthy upstream\n" + whole
const brokenReport = "Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n   1: client error (SendRequest)\n   2: connection closed before message completed\n" + whole

func exited(code int64, stderr string) abi.Result {
	return abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr)}
}

func read() host.Call  { return host.Call{Label: "query", Remote: true, Read: true, Seed: new(int64)} }
func write() host.Call { return host.Call{Label: "mutate", Remote: true, Seed: new(int64)} }

// until is a server that gives one answer before a moment and another after it.
func until[T any](back time.Duration, before, after T) func(time.Duration) T {
	return func(at time.Duration) T {
		if at < back {
			return before
		}
		return after
	}
}

func through(t *testing.T, test func(t *testing.T, d door, call host.Call)) {
	for _, d := range doors {
		for _, call := range []host.Call{read(), write()} {
			t.Run(fmt.Sprint(d.name, " ", call.Label), func(t *testing.T) { test(t, d, call) })
		}
	}
}

// unusual is when an outage is of unusual length to the policy.
const unusual = 75 * time.Second

// noticed is how long after a return an attempt is made at most: 150 ms until it is
// looked at, 50 ms until it is confirmed, 30 ms of spread, or 1.92 s in an outage of
// unusual length.
func noticed(back time.Duration) time.Duration {
	if back > unusual {
		return 200*time.Millisecond + 1920*time.Millisecond
	}
	return 230 * time.Millisecond
}

// Two attempts for an outage, and the second starts soon after the server is
// back. Without a watcher the schedule is what it was.
func TestARestartIsNoticed(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		for _, back := range []time.Duration{10 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second, 10 * time.Second, 30 * time.Second, 61 * time.Second, 149 * time.Second} {
			s := server0{attempt: until(back, exited(1, refusedReport), exited(0, ""))}
			plain := play(t, d, call, s)
			s.look = until(back, down, healthy)
			got := play(t, d, call, s)
			lag := got.last() - back
			if len(got.starts) != 2 || got.outcome.Type != abi.OutcomeOK || lag < 0 || lag > noticed(back) {
				t.Errorf("back at %v: attempts at %v", back, got.starts)
			}
			if late := plain.last() - back; late < lag && back > time.Second && back < unusual {
				t.Errorf("back at %v: the schedule is sooner, by %v", back, lag-late)
			}
			if limit := int(got.last()/shortest) + 2; got.looks > limit {
				t.Errorf("back at %v: %d looks, at most %d are due", back, got.looks, limit)
			}
		}
	})
}

// The deadline gets its attempt, whatever is seen.
func TestAServerThatNeverComesBack(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		got := play(t, d, call, server0{attempt: until(time.Hour, exited(1, refusedReport), exited(0, "")), look: until(time.Hour, down, healthy)})
		if len(got.starts) != 2 || got.last() != 150*time.Second || got.outcome.Reason != abi.ReasonWindow {
			t.Errorf("attempts at %v: %s", got.starts, got.outcome.Message)
		}
	})
}

// A watcher that looks at what the attempts do not reach: it sees it up all the
// time, or away for ever, and the attempts succeed at some moment.
func TestAWatcherOfAnotherServer(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		s := server0{attempt: until(40*time.Second, exited(1, refusedReport), exited(0, ""))}
		plain := play(t, d, call, s)
		s.look = until(0, down, healthy)
		if got := play(t, d, call, s); fmt.Sprint(got.starts) != fmt.Sprint(plain.starts) {
			t.Errorf("always up: attempts at %v, without it at %v", got.starts, plain.starts)
		}
		s.look = until(0, down, accepting)
		if got := play(t, d, call, s); fmt.Sprint(got.starts) != fmt.Sprint(plain.starts) {
			t.Errorf("always accepting: attempts at %v, without it at %v", got.starts, plain.starts)
		}
		s.look = until(time.Hour, unanswered, healthy)
		if got := play(t, d, call, s); fmt.Sprint(got.starts) != fmt.Sprint(plain.starts) {
			t.Errorf("a black hole: attempts at %v, without it at %v", got.starts, plain.starts)
		}
	})
}

// What looks ready and is not costs at most three attempts more than the
// schedule has.
func TestDeceptiveServers(t *testing.T) {
	flapping := func(at time.Duration) bool { return at/(500*time.Millisecond)%2 == 1 }
	for name, s := range map[string]server0{
		"a proxy that accepts and closes for 20 s": {
			attempt: until(20*time.Second, exited(1, refusedReport), exited(0, "")),
			look: func(at time.Duration) level {
				return until(20*time.Second, until(time.Second, down, accepting)(at), healthy)(at)
			},
		},
		"one that answers 503, and its health check nothing of use, then serves": {
			attempt: until(20*time.Second, exited(1, proxiedReport), exited(0, "")),
			look:    until(20*time.Second, accepting, healthy),
		},
		"one that flaps every 0.5 s, and never serves": {
			attempt: until(time.Hour, exited(1, refusedReport), exited(0, "")),
			look: func(at time.Duration) level {
				if flapping(at) {
					return healthy
				}
				return down
			},
		},
		"a check that is fine before the server is": {
			attempt: until(35*time.Second, exited(1, refusedReport), exited(0, "")),
			look:    until(5*time.Second, down, healthy),
		},
	} {
		t.Run(name, func(t *testing.T) {
			through(t, func(t *testing.T, d door, call host.Call) {
				if call.Label == "mutate" && strings.HasPrefix(name, "one that answers 503") {
					return // a write that a proxy may have passed on is never repeated
				}
				watched := play(t, d, call, s)
				s.look = nil
				plain := play(t, d, call, s)
				if len(watched.starts) > len(plain.starts)+3 {
					t.Errorf("%d attempts, %d without a watcher: %v", len(watched.starts), len(plain.starts), watched.starts)
				}
				if watched.outcome.Type != plain.outcome.Type {
					t.Errorf("%s, %s without a watcher", watched.outcome.Message, plain.outcome.Message)
				}
			})
		})
	}
}

// A listener that accepts before it serves breaks whoever comes by then. A
// write waits for readiness, and a read that broke is tried again.
func TestAGapBetweenAcceptingAndServing(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		const up, serves = 9 * time.Second, 9*time.Second + 300*time.Millisecond
		got := play(t, d, call, server0{
			attempt: func(at time.Duration) abi.Result {
				return until(serves, until(up, exited(1, refusedReport), exited(1, brokenReport))(at), exited(0, ""))(at)
			},
			look: func(at time.Duration) level { return until(serves, until(up, down, accepting)(at), healthy)(at) },
		})
		if got.outcome.Type != abi.OutcomeOK || !call.Read && len(got.starts) != 2 {
			t.Errorf("attempts at %v: %s", got.starts, got.outcome.Message)
		}
		if got.last() > serves+time.Second {
			t.Errorf("back at %v, and the last attempt at %v", serves, got.last())
		}
	})
}

// A watcher that goes blind: the schedule goes on.
func TestAWatcherThatGoesBlind(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		s := server0{attempt: until(40*time.Second, exited(1, refusedReport), exited(0, ""))}
		plain := play(t, d, call, s)
		s.look = until(10*time.Second, down, unanswered)
		got := play(t, d, call, s)
		if got.last() != plain.last() {
			t.Errorf("attempts at %v, without a watcher at %v", got.starts, plain.starts)
		}
		if len(got.starts) >= len(plain.starts) {
			t.Errorf("%d attempts, %d without a watcher", len(got.starts), len(plain.starts))
		}
	})
}

// The observer hears what was noticed.
func TestTheObserverIsTold(t *testing.T) {
	got := play(t, doors[0], write(), server0{attempt: until(4*time.Second, exited(1, refusedReport), exited(0, "")), look: until(4*time.Second, down, healthy)})
	woken, left, again := 0, 0, 0
	for _, e := range got.events {
		switch e := e.(type) {
		case host.Woken:
			if woken++; e.By != abi.Ready {
				t.Errorf("%+v", e)
			}
		case host.LeftOut:
			left++
		case host.Waiting:
			if e.Again {
				again++
			} else if e.Watched != abi.Ready {
				t.Errorf("%+v", e)
			}
		}
	}
	// Waits of 0.5, 1 and 2 s are over before it is back, and that of 4 s is not.
	if woken != 1 || left != 3 || again != 4 {
		t.Errorf("%d woken, %d left out, %d waits that go on", woken, left, again)
	}
}
