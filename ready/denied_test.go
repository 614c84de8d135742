package ready

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"outlast/abi"
	"outlast/host"
)

// A health check that is not there, or not for outlast, is asked for once each time
// the server comes back; until it goes away only its port is looked at.
func TestADeniedCheckIsNotAskedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		status    int
		omnigraph bool
		ends      bool
	}{
		"unauthorized":    {401, false, true},
		"forbidden":       {403, false, true},
		"not there":       {404, false, true},
		"a fault":         {500, false, false},
		"a proxy's login": {401, true, true},
		"no route":        {404, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			to := target(t, "http")
			to.Omnigraph = test.omnigraph
			var asked atomic.Int64
			w, _ := watched(t, to)
			eventually(t, "down", func() bool { return w.Seen().Down })
			stop := serve(t, to, func(rw http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				rw.WriteHeader(test.status)
			})
			eventually(t, "accepting", func() bool { return w.Seen().Rose == abi.Accepting && asked.Load() > 0 })
			if !test.ends {
				eventually(t, "more requests", func() bool { return asked.Load() > 6 })
				if why := w.Seen().Why; why != "" {
					t.Errorf("it is not asked for again: %s", why)
				}
				return
			}
			eventually(t, "why", func() bool { return strings.Contains(w.Seen().Why, strconv.Itoa(test.status)) })
			before := asked.Load() // others may have been under way
			time.Sleep(10 * shortest)
			if n := asked.Load(); n > before || n > inFlight {
				t.Errorf("%d requests, and %d later", before, n)
			}
			stop()
			eventually(t, "down again", func() bool { return w.Seen().Down })
			serve(t, to, func(rw http.ResponseWriter, _ *http.Request) {
				if test.omnigraph {
					rw.Write([]byte(`{"status":"ready"}`))
				}
			})
			eventually(t, "ready", func() bool { return w.Seen() == host.Seen{Rose: abi.Ready} })
		})
	}
}

// While a server answers 503 the looks slow down anew, to one in 150 ms and no
// further.
func TestLooksAtABusyServerSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), map[int]int{} // by second
		r := newRegistry(func(context.Context, *Target) (level, int) {
			second := int(time.Since(began) / time.Second)
			looks[second]++
			if second < 60 {
				return down, 0
			}
			return loading, http.StatusServiceUnavailable
		}, nil)
		w := server{Target{Scheme: "http", Host: "h", Port: "80"}, r}.Watch(true, func() {})
		time.Sleep(10 * time.Minute)
		w.Stop()
		synctest.Wait()
		for second, want := range map[int]int{1: 20, 58: 10, 62: 20, 85: 20, 120: 10, 200: 7, 500: 7} {
			if got := looks[second]; got < want-1 || got > want+1 {
				t.Errorf("%d looks in second %d, and not %d", got, second, want)
			}
		}
	})
}
