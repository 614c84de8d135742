package ready

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// outage is how long the server of BenchmarkOutages is away, give or take a tenth.
var outage = flag.Duration("outage", 3*time.Second, "how long the server of the benchmark of outages is away")

// serverEnv makes this test binary a server at the address that it has.
const serverEnv = "OUTLAST_READY_TEST_SERVER"

// serveProcess is a real server: it says when it began to accept, in nanoseconds
// of the wall clock, and serves until it is killed.
func serveProcess(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(time.Now().UnixNano())
	http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

// loadPlugin compiles the plugin before anything is measured.
func loadPlugin(b *testing.B) {
	if _, err := compiled.Describe(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// startServer starts one and gives when it was up.
func startServer(b *testing.B, to Target) (up time.Time, stop func()) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serverEnv+"="+to.address())
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		b.Error(err)
		return time.Now(), func() {}
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	nanos, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil || nanos == 0 {
		b.Errorf("the server said %q: %v", line, err)
	}
	return time.Unix(0, nanos), func() { command.Process.Kill(); command.Wait() }
}

// BenchmarkOutages is real outages, one for each iteration and all at the same
// time, each with a server process of its own that is killed and started again.
// It reports how long after the server was up the attempt that succeeded began,
// and how many attempts there were.
//
//	go test ./ready -run '^$' -bench Outages -benchtime 30x -outage 10s
func BenchmarkOutages(b *testing.B) {
	for _, c := range []struct {
		name  string
		call  host.Call
		watch func(Target) host.Readiness
	}{
		{"read/watched", read(), Server},
		{"write/watched", write(), Server},
		{"read/schedule", read(), func(Target) host.Readiness { return nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			loadPlugin(b)
			var mu sync.Mutex
			var lags []time.Duration
			attempts := 0
			var all sync.WaitGroup
			for range b.N {
				all.Go(func() {
					lag, n := oneOutage(b, c.call, c.watch)
					mu.Lock()
					defer mu.Unlock()
					lags, attempts = append(lags, lag), attempts+n
				})
			}
			all.Wait()
			slices.Sort(lags)
			at := func(part float64) float64 { return lags[int(part*float64(len(lags)-1))].Seconds() * 1e3 }
			b.ReportMetric(at(0.5), "ms-lag-p50")
			b.ReportMetric(at(0.99), "ms-lag-p99")
			b.ReportMetric(at(1), "ms-lag-max")
			b.ReportMetric(float64(attempts)/float64(b.N), "attempts/outage")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// oneOutage has a call that meets the outage at its start.
func oneOutage(b *testing.B, call host.Call, watch func(Target) host.Readiness) (lag time.Duration, attempts int) {
	to := target(b, "http")
	call.Seed = nil
	_, kill := startServer(b, to)
	kill()
	up := make(chan time.Time, 1)
	go func() {
		time.Sleep(time.Duration(float64(*outage) * (0.9 + 0.2*rand.Float64())))
		when, stop := startServer(b, to)
		up <- when
		b.Cleanup(stop)
	}()
	var start time.Time
	outcome, err := compiled.Run(b.Context(), &host.Task{
		Policy: graphs, Call: call, Ready: watch(to),
		Attempt: func(context.Context, int64) (abi.Result, error) {
			attempts++
			start = time.Now()
			response, err := http.Get("http://" + to.address() + "/")
			if err != nil {
				return exited(1, refusedReport), nil
			}
			response.Body.Close()
			return exited(0, ""), nil
		},
	})
	if err != nil || outcome.Type != abi.OutcomeOK {
		b.Errorf("%+v, %v", outcome, err)
	}
	return start.Sub(<-up), attempts
}

// BenchmarkCallers is many callers of one process that wait for one server: the
// largest part of them that comes in any 100 ms, how often the server is looked
// at while it is away, and what each of them costs.
//
//	go test ./ready -run '^$' -bench Callers -benchtime 1x -outage 10s
func BenchmarkCallers(b *testing.B) {
	for _, callers := range []int{1, 2000} {
		for _, call := range []host.Call{read(), write()} {
			b.Run(fmt.Sprint(callers, "/", call.Label), func(b *testing.B) {
				for range b.N {
					manyCallers(b, call, callers)
				}
			})
		}
	}
}

func manyCallers(b *testing.B, call host.Call, callers int) {
	loadPlugin(b)
	to := target(b, "http")
	call.Seed = nil
	begin := time.Now()
	upAt := make(chan time.Time, 1)
	time.AfterFunc(*outage, func() {
		up, stop := startServer(b, to)
		upAt <- up
		b.Cleanup(stop)
	})
	var mu sync.Mutex
	var starts []time.Time
	var all sync.WaitGroup
	attempts := 0
	for range callers {
		all.Go(func() {
			var start time.Time
			n := 0
			outcome, err := compiled.Run(b.Context(), &host.Task{
				Policy: graphs, Call: call, Ready: Server(to),
				Attempt: func(context.Context, int64) (abi.Result, error) {
					start, n = time.Now(), n+1
					conn, err := net.Dial("tcp", to.address())
					if err != nil {
						return exited(1, refusedReport), nil
					}
					conn.Close()
					return exited(0, ""), nil
				},
			})
			mu.Lock()
			defer mu.Unlock()
			starts, attempts = append(starts, start), attempts+n
			if err != nil || outcome.Type != abi.OutcomeOK {
				b.Errorf("%+v, %v", outcome, err)
			}
		})
	}
	looks := looksUntil(to, begin.Add(*outage))
	all.Wait()
	slices.SortFunc(starts, time.Time.Compare)
	up := <-upAt
	b.ReportMetric(float64(looks)/outage.Seconds(), "looks/s")
	b.ReportMetric(float64(attempts)/float64(callers), "attempts/caller")
	b.ReportMetric(starts[len(starts)/2].Sub(up).Seconds()*1e3, "ms-lag-p50")
	b.ReportMetric(starts[len(starts)-1].Sub(up).Seconds()*1e3, "ms-lag-max")
	b.ReportMetric(float64(densest(starts, 100*time.Millisecond))/float64(callers)*100, "%-in-100ms")
	b.ReportMetric(0, "ns/op")
}

// looksUntil counts the looks at a target until a moment.
func looksUntil(to Target, end time.Time) (looks int64) {
	for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		watchers.mu.Lock()
		if w := watchers.byTarget[to.key()]; w != nil {
			w.mu.Lock()
			looks = w.looks
			w.mu.Unlock()
		}
		watchers.mu.Unlock()
	}
	return looks
}

// densest is how many of the times, in order, lie within one span.
func densest(times []time.Time, span time.Duration) (most int) {
	first := 0
	for i, t := range times {
		for t.Sub(times[first]) > span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
