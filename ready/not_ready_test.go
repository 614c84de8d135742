package ready

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// steadyMinute is a policy that makes an attempt each minute, and waits for whatever
// wakes it. So a second attempt that comes sooner was woken.
func steadyMinute(t *testing.T) *host.Policy {
	p, err := host.ParsePolicy(`{"version": 1, "name": "steady",
		"budgets": {"away": {"max_wait": "10m", "backoff": {"type": "linear", "base": "60s", "cap": "60s"},
			"wake": {"reads": "accepting", "writes": "ready", "spread": "1us", "hold_off": "1s", "max_vain": 3}}},
		"rules": [{"kind": "away", "then": [{"retry": "away"}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A server that listens, and whose health check is answered 503 for a while, is gone
// to when that is good, and not before: however long the answers take.
func TestAHealthCheckThatSaysNotReady(t *testing.T) {
	for _, slow := range []time.Duration{0, 3 * steady} {
		for _, call := range []host.Call{read(), write()} {
			t.Run(slow.String()+" "+call.Label, func(t *testing.T) {
				t.Parallel()
				to := target(t, "http")
				var good atomic.Bool
				begins := func() {
					time.AfterFunc(time.Second, func() { good.Store(true) })
					serve(t, to, func(rw http.ResponseWriter, _ *http.Request) {
						isGood := good.Load()
						time.Sleep(slow)
						if !isGood {
							rw.WriteHeader(http.StatusServiceUnavailable)
						}
					})
				}
				attempts, woken, early := 0, 0, false
				outcome, err := compiled.Run(t.Context(), &host.Task{
					Policy: steadyMinute(t), Call: call, Ready: Server(to),
					Attempt: func(context.Context, int64) (abi.Result, error) {
						if attempts++; attempts == 1 {
							return exited(1, refusedReport), nil
						}
						early = !good.Load()
						return exited(0, ""), nil
					},
					Observe: func(e host.Event) {
						switch e.(type) {
						case host.Waiting:
							if attempts == 1 && woken == 0 {
								time.AfterFunc(300*time.Millisecond, begins)
							}
						case host.Woken:
							woken++
						}
					},
				})
				if err != nil || outcome.Type != abi.OutcomeOK || attempts != 2 || woken != 1 || early {
					t.Errorf("%d attempts, woken %d times, too early: %v: %+v, %v", attempts, woken, early, outcome, err)
				}
			})
		}
	}
}

// A health check that is 503 for good, while the work succeeds, delays an attempt by
// a cap of the backoff and no more, and that is told.
func TestAHealthCheckThatIsNeverReady(t *testing.T) {
	const back, limit = 4 * time.Second, 10 * time.Second
	through(t, func(t *testing.T, d door, call host.Call) {
		got := play(t, d, call, server0{
			attempt: until(back, exited(1, refusedReport), exited(0, "")),
			look:    until(back, down, loading),
		})
		told := false
		for _, e := range got.events {
			left, is := e.(host.LeftOut)
			told = told || is && left.NotReady
		}
		if len(got.starts) != 2 || got.last() > back+limit || !told || got.outcome.Type != abi.OutcomeOK {
			t.Errorf("attempts at %v, told: %v: %s", got.starts, told, got.outcome.Message)
		}
	})
}

// What a watch sees of it. It wakes nobody, and the check is asked for on.
func TestA503IsNotReady(t *testing.T) {
	to := target(t, "http")
	w, heard := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen().Down })
	var asked atomic.Int64
	serve(t, to, func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
	eventually(t, "not ready", func() bool { return w.Seen() == host.Seen{NotReady: true} })
	eventually(t, "many looks", func() bool { return asked.Load() > 6 })
	if len(heard) > 0 || w.Seen() != (host.Seen{NotReady: true}) {
		t.Errorf("%d news, %+v", len(heard), w.Seen())
	}
}
