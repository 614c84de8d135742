package httpretry_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/httpretry"
)

// away is how long servers are away here: less than a wait of the schedule, which is
// by then at the attempts after 0.5, 1.5 and 3.5 s.
const away = 1800 * time.Millisecond

// lag is how soon after that a call has to be back (the look that sees it, the
// spread, and a busy machine); the schedule alone would take 1.7 s.
const lag = 1200 * time.Millisecond

// A request's own address is watched: a read goes on once it accepts connections. A
// write needs a server that says it is ready.
func TestWatched(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes two seconds")
	}
	for name, c := range map[string]struct {
		method string
		ready  func(address string) string
		woken  abi.Readiness
	}{
		"a read":           {http.MethodGet, func(string) string { return "" }, abi.Accepting},
		"a write":          {http.MethodPost, func(string) string { return "" }, ""},
		"a write, a path":  {http.MethodPost, func(string) string { return "/readyz" }, abi.Ready},
		"a write, a URL":   {http.MethodPost, func(address string) string { return "http://" + address + "/readyz" }, abi.Ready},
		"a read, unwanted": {http.MethodGet, func(string) string { return "off" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, listen := deadPort(t)
			s := &seen{}
			began := time.Now()
			timer := time.AfterFunc(away, func() { listen(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) })
			defer timer.Stop()
			client := client(t, httpretry.Options{Clock: host.SystemClock(), Ready: c.ready(address), Observe: s.observe})
			request, _ := http.NewRequest(c.method, "http://"+address+"/orders", nil)
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			took, woken := time.Since(began), abi.Readiness("")
			for _, e := range s.events {
				if w, ok := e.(host.Woken); ok {
					woken = w.By
				}
			}
			if woken != c.woken || c.woken != "" && took > away+lag {
				t.Errorf("woken by %q, after %v", woken, took)
			}
		})
	}
}

// A read, too, waits until the path that is named is no longer answered 503.
func TestNotReadyYet(t *testing.T) {
	address, listen := deadPort(t)
	var good, early atomic.Bool
	var asked atomic.Int64
	s := &seen{}
	timer := time.AfterFunc(away, func() {
		listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/readyz":
				asked.Add(1)
				early.Store(!good.Load())
			case !good.Load():
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		time.AfterFunc(time.Second, func() { good.Store(true) })
	})
	defer timer.Stop()
	client := client(t, httpretry.Options{Clock: host.SystemClock(), Ready: "/readyz", Observe: s.observe})
	response, err := client.Get("http://" + address + "/orders")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || asked.Load() != 1 || early.Load() {
		t.Errorf("%d after %d requests, too early: %v", response.StatusCode, asked.Load(), early.Load())
	}
}

// Nobody looks where requests may go another way, and observers hear why.
func TestUnwatched(t *testing.T) {
	proxied := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:1"})}
	dialled := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.Proxy = nil
	dials := func(d *net.Dialer) *http.Transport { return &http.Transport{DialContext: d.DialContext} }
	address, _ := deadPort(t)
	for name, c := range map[string]struct {
		base  *http.Transport
		ready string
		why   string
	}{
		"a proxy":            {proxied, "", "a proxy"},
		"a proxy, a path":    {proxied, "/readyz", "a proxy"},
		"a proxy, a URL":     {proxied, "http://" + address + "/readyz", ""},
		"a dialer":           {dialled, "", "a way of its own"},
		"a timeout":          {dials(&net.Dialer{Timeout: time.Minute}), "", ""},
		"a resolver":         {dials(&net.Dialer{Resolver: &net.Resolver{}}), "", "a way of its own"},
		"a local address":    {dials(&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}), "", "a way of its own"},
		"control":            {dials(&net.Dialer{Control: func(string, string, syscall.RawConn) error { return nil }}), "", "a way of its own"},
		"another host's URL": {dialled, "http://other.invalid/readyz", "a way of its own"},
		"as Go has it":       {plain, "", ""},
		"nobody is to look":  {proxied, "off", ""},
	} {
		s := &seen{}
		transport := httpretry.New(plugin, c.base, httpretry.Options{Clock: &healing{}, Ready: c.ready, Observe: s.observe, MaxWait: time.Second})
		_, err := (&http.Client{Transport: transport}).Get("http://" + address)
		if err == nil {
			t.Errorf("%s: it was answered", name)
		}
		why, watched := "", false
		for _, e := range s.events {
			switch e := e.(type) {
			case host.Unwatched:
				why = e.Why
			case host.Waiting:
				watched = watched || e.Watched != ""
			}
		}
		if (c.why == "") != (why == "") || !strings.Contains(why, c.why) || watched != (c.why == "" && c.ready != "off") {
			t.Errorf("%s: watched: %t, %q", name, watched, why)
		}
	}
}

// A function that chooses a proxy is asked only for requests: it may take several in
// turn.
func TestAProxyInTurn(t *testing.T) {
	to, asked := serve(t, busy(3))
	chosen := int64(0)
	base := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		chosen++
		return nil, nil
	}}
	t.Cleanup(base.CloseIdleConnections)
	c := &http.Client{Transport: httpretry.New(plugin, base, httpretry.Options{Clock: &healing{}})}
	response, err := c.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if asked.Load() != 3 || chosen != 3 {
		t.Errorf("%d requests, and a proxy was chosen %d times", asked.Load(), chosen)
	}
}

// A base that is no *http.Transport may connect elsewhere: that nobody is at the
// request's address leaves no attempt out.
func TestElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a second")
	}
	socket := t.TempDir() + "/s"
	within := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(within.CloseIdleConnections)
	address, _ := deadPort(t)
	base := roundTripper(within.RoundTrip)
	timer := time.AfterFunc(200*time.Millisecond, func() {
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Error(err)
			return
		}
		server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
	})
	defer timer.Stop()
	s := &seen{}
	o := httpretry.Options{Clock: host.SystemClock(), Observe: s.observe, MaxWait: 20 * time.Second}
	response, err := (&http.Client{Transport: httpretry.New(plugin, base, o)}).Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for _, e := range s.events {
		if _, ok := e.(host.LeftOut); ok {
			t.Error("an attempt was left out")
		}
	}
}
