package ready

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// loadingAccount is what a write of omnigraph 0.12 and later prints while its graph loads.
const loadingAccount = "graph is loading; wait for its startup attempt to complete\nHTTP 503\n" +
	`command_outcome: {"execution":"unknown","effects":"unknown","action":"reconcile"}` + "\n"

// A restart as releases since 0.12 have it, in the time of a bubble: away, then
// there and loading, then ready. While it loads an attempt is made every 10 s,
// since the graph that a call wants may be ready before the others are.
func TestARestartWithLoading(t *testing.T) {
	through(t, func(t *testing.T, d door, call host.Call) {
		for _, c := range []struct {
			away, loads time.Duration
			attempts    int
		}{
			{10 * time.Second, 20 * time.Second, 4},
			{0, 20 * time.Second, 4},
			{3 * time.Second, 3 * time.Second, 3},
			{61 * time.Second, 5 * time.Second, 3},
			{10 * time.Second, 100 * time.Second, 13},
			{10 * time.Second, 10 * time.Millisecond, 3},
		} {
			ready := c.away + c.loads
			got := play(t, d, call, server0{
				attempt: func(at time.Duration) abi.Result {
					return until(ready, until(c.away, exited(1, refusedReport), exited(1, loadingAccount))(at), exited(0, ""))(at)
				},
				look: func(at time.Duration) level {
					return until(ready, until(c.away, down, loading)(at), healthy)(at)
				},
			})
			lag := got.last() - ready
			if got.outcome.Type != abi.OutcomeOK || len(got.starts) > c.attempts || lag < 0 || lag > 170*time.Millisecond+noticed(ready) {
				t.Errorf("away %v, loading %v: attempts at %v: %s", c.away, c.loads, got.starts, got.outcome.Message)
			}
		}
	})
}

// lifeOf is a server in this process that is away, then loads, then is ready.
// Release 0.10 listens when it is ready.
func lifeOf(t testing.TB, to Target, release string, away, loads time.Duration) (ready chan time.Time) {
	ready = make(chan time.Time, 1)
	if release == "0.10" {
		away, loads = away+loads, 0
	}
	go func() {
		time.Sleep(away)
		l, err := net.Listen("tcp", to.address())
		if err != nil {
			t.Error(err)
			return
		}
		since := time.Now().Add(loads)
		ready <- since
		server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			at := map[string]reply{"/healthz": {200, healthz(release + ".0")}, "/data": {200, ""}}
			switch {
			case time.Now().Before(since):
				at["/readyz"], at["/data"] = reply{503, readyz("loading")}, reply{503, ""}
			case release != "0.10":
				at["/readyz"] = reply{200, readyz("serving")}
			}
			told(at)(rw, r)
		})}
		t.Cleanup(func() { server.Close() })
		server.Serve(l)
	}()
	return ready
}

// rideOut has a call that meets the whole of a restart.
func rideOut(t testing.TB, call host.Call, release string, away, loads time.Duration) (lag time.Duration, attempts int) {
	to := omnigraph(t, "")
	ready := lifeOf(t, to, release, away, loads)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var last time.Time
	outcome, err := compiled.Run(t.Context(), &host.Task{
		Policy: graphs, Call: call, Ready: Server(to),
		Attempt: func(context.Context, int64) (abi.Result, error) {
			attempts++
			last = time.Now()
			response, err := client.Get("http://" + to.address() + "/data")
			if err != nil {
				return exited(1, refusedReport), nil
			}
			defer response.Body.Close()
			io.Copy(io.Discard, response.Body)
			if response.StatusCode != 200 {
				return exited(1, loadingAccount), nil
			}
			return exited(0, ""), nil
		},
	})
	if err != nil || outcome.Type != abi.OutcomeOK {
		t.Errorf("%+v, %v", outcome, err)
	}
	return last.Sub(<-ready), attempts
}

// A real restart, with real sockets, clocks and plugin. A third attempt is made
// if this machine stands still for a second.
func TestARealRestartWithLoading(t *testing.T) {
	for _, release := range []string{"0.10", "0.13"} {
		for _, call := range []host.Call{read(), write()} {
			t.Run(release+" "+call.Label, func(t *testing.T) {
				t.Parallel()
				lag, attempts := rideOut(t, call, release, 800*time.Millisecond, 1500*time.Millisecond)
				if attempts > 4 || lag < 0 || lag > long {
					t.Errorf("%d attempts, the last %v after it was ready", attempts, lag)
				}
			})
		}
	}
}

// loadsFor is for how long the servers of BenchmarkRestarts load, give or take a tenth.
var loadsFor = flag.Duration("loading", time.Second, "for how long the servers of the benchmark of restarts load")

// BenchmarkRestarts is real restarts, one for each iteration and all at the same
// time: away, loading, ready; 0.10 is away all the while. It reports how long
// after the server was ready the attempt that succeeded began, and how many
// attempts there were at most.
//
//	go test ./ready -run '^$' -bench Restarts -benchtime 30x -outage 10s -loading 20s
func BenchmarkRestarts(b *testing.B) {
	for _, release := range []string{"0.13", "0.10"} {
		for _, call := range []host.Call{read(), write()} {
			b.Run(fmt.Sprint(release, "/", call.Label), func(b *testing.B) {
				loadPlugin(b)
				call.Seed = nil
				var mu sync.Mutex
				var lags []time.Duration
				total, most := 0, 0
				var all sync.WaitGroup
				for range b.N {
					all.Go(func() {
						some := func(d time.Duration) time.Duration {
							return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
						}
						lag, attempts := rideOut(b, call, release, some(*outage), some(*loadsFor))
						mu.Lock()
						defer mu.Unlock()
						lags, total, most = append(lags, lag), total+attempts, max(most, attempts)
					})
				}
				all.Wait()
				slices.Sort(lags)
				at := func(part float64) float64 { return lags[int(part*float64(len(lags)-1))].Seconds() * 1e3 }
				b.ReportMetric(at(0.5), "ms-lag-p50")
				b.ReportMetric(at(0.99), "ms-lag-p99")
				b.ReportMetric(float64(total)/float64(b.N), "attempts/restart")
				b.ReportMetric(float64(most), "attempts-max")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
