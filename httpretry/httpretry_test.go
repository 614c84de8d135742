package httpretry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpattempt"
	"outlast/httpretry"
	"outlast/retry"
)

// Methods decide, and what the caller says of routes; a header alone does not.
func TestWhatIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, key string
		options           httpretry.Options
		asked             int64
	}{
		"GET":                    {"GET", "/", "", httpretry.Options{}, 3},
		"HEAD":                   {"HEAD", "/", "", httpretry.Options{}, 3},
		"OPTIONS":                {"OPTIONS", "/", "", httpretry.Options{}, 3},
		"TRACE":                  {"TRACE", "/", "", httpretry.Options{}, 3},
		"POST":                   {"POST", "/", "", httpretry.Options{}, 1},
		"PUT":                    {"PUT", "/", "", httpretry.Options{}, 1},
		"PATCH":                  {"PATCH", "/", "", httpretry.Options{}, 1},
		"DELETE":                 {"DELETE", "/", "", httpretry.Options{}, 1},
		"a method of its own":    {"QUERY", "/", "", httpretry.Options{}, 1},
		"a key":                  {"POST", "/", "k", httpretry.Options{}, 1},
		"a key that is honoured": {"POST", "/orders", "k", httpretry.Options{HonoursKey: httpretry.Routes("POST /orders")}, 3},
		"no key":                 {"POST", "/orders", "", httpretry.Options{HonoursKey: httpretry.Routes("POST /orders")}, 1},
		"another route":          {"POST", "/payments", "k", httpretry.Options{HonoursKey: httpretry.Routes("POST /orders")}, 1},
		"a repeat is harmless":   {"PUT", "/names/7", "", httpretry.Options{Repeatable: httpretry.Routes("PUT /names/{id}")}, 3},
		"it refuses before":      {"POST", "/", "", httpretry.Options{RefusesBeforeActing: true}, 3},
		"two attempts":           {"GET", "/", "", httpretry.Options{Attempts: 2}, 2},
		"off":                    {"GET", "/", "", httpretry.Options{Off: true}, 1},
	} {
		var keys []string
		to, asked := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			busy(3)(n, w, r)
		})
		request, err := http.NewRequest(c.method, to+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.key != "" {
			request.Header.Set("Idempotency-Key", c.key)
		}
		response, err := client(t, c.options).Do(request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		status := http.StatusServiceUnavailable
		if c.asked == 3 {
			status = http.StatusOK
		}
		if asked.Load() != c.asked || response.StatusCode != status || response.Request != request {
			t.Errorf("%s: asked %d times, %d", name, asked.Load(), response.StatusCode)
		}
		if got := text(t, response); got != "said" && c.method != http.MethodHead {
			t.Errorf("%s: the body is %q", name, got)
		}
		for _, key := range keys {
			if key != c.key {
				t.Errorf("%s: keys %q", name, keys)
			}
		}
	}
}

func TestRoutes(t *testing.T) {
	is := httpretry.Routes("PUT /names/{id}", "DELETE /tmp/", "POST api.example/orders", "/all")
	for line, want := range map[string]bool{
		"PUT http://a/names/7": true, "PUT http://a/names/7/x": false, "POST http://a/names/7": false, "PUT http://a/names/": false,
		"DELETE http://a/tmp/x/y": true, "DELETE http://a/tmp": false, "DELETE http://a/tmp/../names": false,
		"POST http://api.example:8080/orders": true, "POST https://api.example/orders": true, "POST http://other/orders": false,
		"PATCH http://a/all": true, "PATCH http://a//all": false, "POST http://api.example/orders?x=1": true,
	} {
		method, to, _ := strings.Cut(line, " ")
		request, err := http.NewRequest(method, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if is(request) != want {
			t.Errorf("%s: %t", line, !want)
		}
		if request.Host = ""; is(request) != want {
			t.Errorf("%s, without a Host: %t", line, !want)
		}
	}
}

// The error is the caller's to look into: how the call ended, and what the transport
// said.
func TestErrors(t *testing.T) {
	address, _ := deadPort(t)
	_, err := client(t, httpretry.Options{Secrets: []string{"127.0.0.1"}}).Post("http://"+address, "text/plain", strings.NewReader("order"))
	var call *host.CallError
	var op *net.OpError
	if !errors.As(err, &call) || call.Outcome.Type != abi.OutcomeExhausted || call.Outcome.Effects != abi.EffectsNone ||
		!errors.As(err, &op) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
	if strings.Contains(call.Error(), "127.0.0.1") {
		t.Errorf("a secret is told: %v", call)
	}
	if late := new(url.Error); !errors.As(err, &late) || late.Timeout() {
		t.Errorf("%v is called a time limit's", err)
	}
}

// A transport's options that are wrong are told by each request, whose body is closed.
func TestWrongOptions(t *testing.T) {
	to, asked := serve(t, busy(1))
	for name, o := range map[string]httpretry.Options{
		"Ready": {Ready: "readyz"}, "Ready, a path": {Ready: "/readyz#abc"}, "Ready, a URL": {Ready: "ftp://x"},
		"Attempts": {Attempts: -1}, "max_wait": {MaxWait: -1}, "spread": {Spread: -1}, "AttemptTimeout": {AttemptTimeout: -1}, "Budget": {Budget: -1},
	} {
		option, _, _ := strings.Cut(name, ",")
		body := &closing{Reader: strings.NewReader("x")}
		request, err := http.NewRequest(http.MethodPost, to, body)
		if err != nil {
			t.Fatal(err)
		}
		request.GetBody = func() (io.ReadCloser, error) { return body, nil }
		if response, err := client(t, o).Do(request); err == nil || !body.closed.Load() || !strings.Contains(err.Error(), option) {
			t.Errorf("%s: %v, %v, closed: %t", name, response, err, body.closed.Load())
		}
	}
	if asked.Load() != 0 {
		t.Errorf("asked %d times", asked.Load())
	}
}

type closing struct {
	io.Reader
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return nil
}

// Answers that are dropped leave their connection to the next attempt, and one that
// does not end does not hold it up.
func TestDropped(t *testing.T) {
	for name, body := range map[string]func(http.ResponseWriter, *http.Request){
		"short": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 100_000)) },
		"endless": func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"endless before gzip's header": func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Second):
			}
		},
	} {
		var mu sync.Mutex
		connections := map[string]bool{}
		to, asked := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			connections[r.RemoteAddr] = true
			mu.Unlock()
			if n < 4 {
				if strings.Contains(name, "gzip") {
					w.Header().Set("Content-Encoding", "gzip")
				}
				w.WriteHeader(http.StatusServiceUnavailable)
				body(w, r)
			}
		})
		began := time.Now()
		response, err := client(t, httpretry.Options{}).Get(to)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		most := 4
		if name == "short" {
			most = 1
		}
		if asked.Load() != 4 || len(connections) != most {
			t.Errorf("%s: asked %d times by %d connections", name, asked.Load(), len(connections))
		}
	}
}

// An answer is closed before the wait for the next, and where the caller gives up.
func TestClosedInTime(t *testing.T) {
	for _, gives := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		body := &closing{Reader: strings.NewReader("said")}
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: body, Header: http.Header{}}, nil
		})
		clock := &healing{heal: func() {
			if !body.closed.Load() {
				t.Error("it waits with an answer in its hands")
			}
			cancel()
		}}
		o := httpretry.Options{Clock: clock, Ready: "off"}
		if gives {
			o.Observe = func(host.Event) { cancel() }
		}
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1", nil)
		if response, err := httpretry.New(plugin, base, o).RoundTrip(request); !errors.Is(err, context.Canceled) || !body.closed.Load() {
			t.Errorf("%v, %v, closed: %t", response, err, body.closed.Load())
		}
	}
}

// Bodies are whole each time, or the request is sent once.
func TestBodies(t *testing.T) {
	var bodies []string
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if bodies = append(bodies, string(body)); len(bodies)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	c := client(t, httpretry.Options{Repeatable: func(*http.Request) bool { return true }})
	for range 2 {
		response, err := c.Post(server.URL, "text/plain", bytes.NewBufferString("order"))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", response, err)
		}
		response.Body.Close()
	}
	if got := strings.Join(bodies, " "); got != "order order order order order order" {
		t.Errorf("sent %q", got)
	}
	request, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader("order"))
	if err != nil {
		t.Fatal(err)
	}
	own := errors.New("own")
	request.GetBody = func() (io.ReadCloser, error) { return nil, own }
	response, err := c.Do(request)
	if err == nil || !errors.Is(err, own) {
		t.Errorf("%v, %v", response, err)
	}
}

// What http.Client does goes on above: redirects, each a call of its own, cookies and
// a time limit for all.
func TestUnderAClient(t *testing.T) {
	to, asked := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		cookie, _ := r.Cookie("seen")
		switch {
		case n%2 == 1:
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/":
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
			http.Redirect(w, r, "/there", http.StatusFound)
		default:
			fmt.Fprint(w, r.URL.Path, cookie)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{}
	c := client(t, httpretry.Options{Observe: s.observe, Label: func(r *http.Request) string { return r.URL.Path }})
	c.Jar = jar
	response, err := c.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, response); got != "/thereseen=yes" || asked.Load() != 4 || s.outcome().Attempts != 2 {
		t.Errorf("%q, asked %d times, %+v", got, asked.Load(), s.outcome())
	}
}

func TestTimeouts(t *testing.T) {
	address, _ := deadPort(t)
	c := client(t, httpretry.Options{Clock: host.SystemClock()})
	c.Timeout = 100 * time.Millisecond
	began := time.Now()
	_, err := c.Get("http://" + address)
	if late := new(url.Error); !errors.As(err, &late) || !late.Timeout() || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
	c.Timeout = 0
	if _, err = c.Do(request); !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*host.CallError)) {
		t.Errorf("%v", err)
	}
	// A server that asks for more than the context leaves is not waited for.
	to, asked := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c.Timeout = 20 * time.Second
	began = time.Now()
	response, err := c.Get(to)
	if err != nil || response.StatusCode != http.StatusTooManyRequests || asked.Load() != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("%v, %v, after %v", response, err, time.Since(began))
	}
	response.Body.Close()
}

// An attempt's time limit is for the header: the body may take longer.
func TestAttemptTimeout(t *testing.T) {
	const limit = 100 * time.Millisecond
	release := make(chan bool)
	to, asked := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		if n < 3 {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, "first, ")
		http.NewResponseController(w).Flush()
		<-release
		io.WriteString(w, "last")
	})
	c := client(t, httpretry.Options{AttemptTimeout: limit})
	response, err := c.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * limit)
	close(release)
	if got := text(t, response); got != "first, last" || asked.Load() != 3 {
		t.Errorf("%q, asked %d times", got, asked.Load())
	}
	asked.Store(0)
	response, err = c.Post(to, "text/plain", strings.NewReader("order"))
	var call *host.CallError
	if late := new(url.Error); !errors.As(err, &call) || call.Outcome.Type != abi.OutcomeIndeterminate || call.Outcome.Kind != "timed_out" || !errors.As(err, &late) {
		t.Errorf("%v, %v", response, err)
	}
}

func TestHTTP2(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	c := server.Client()
	c.Transport = httpretry.New(plugin, c.Transport, httpretry.Options{Clock: &virtual.Clock{}})
	response, err := c.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, response); got != "HTTP/2.0" || n.Load() != 3 {
		t.Errorf("%q, asked %d times", got, n.Load())
	}
	c.CloseIdleConnections()
}

// A reverse proxy holds its clients' requests while the server behind it is away,
// those with a body too, which it can read once.
func TestReverseProxy(t *testing.T) {
	address, listen := deadPort(t)
	var applied atomic.Int64
	clock := &healing{heal: func() {
		listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			applied.Add(1)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		}))
	}}
	front := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	front.Transport = client(t, httpretry.Options{Clock: clock}).Transport
	to := httptest.NewServer(front)
	defer to.Close()
	response, err := http.Post(to.URL, "text/plain", io.MultiReader(strings.NewReader("order")))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, response); got != "POST order" || applied.Load() != 1 {
		t.Errorf("%d %q, applied %d times", response.StatusCode, got, applied.Load())
	}
	http.DefaultClient.CloseIdleConnections()
}

// What is spoken after an upgrade goes through a transport that tries again.
func TestUpgrade(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Second} {
		to, _ := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			conn, in, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			line, _ := in.ReadString('\n')
			io.WriteString(conn, line)
		})
		request, _ := http.NewRequest(http.MethodGet, to, nil)
		request.Header.Set("Connection", "Upgrade")
		request.Header.Set("Upgrade", "echo")
		response, err := client(t, httpretry.Options{AttemptTimeout: limit}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		both, ok := response.Body.(io.ReadWriteCloser)
		if !ok {
			t.Fatalf("%T cannot be written to", response.Body)
		}
		io.WriteString(both, "hello\n")
		if got := text(t, response); got != "hello\n" {
			t.Errorf("%q", got)
		}
	}
}

// Single requests have options of their own, by their context, the inner ones last.
func TestWith(t *testing.T) {
	for name, c := range map[string]struct {
		ctx   func(context.Context) context.Context
		asked int64
	}{
		"as it is": {func(ctx context.Context) context.Context { return ctx }, 4},
		"off":      {httpretry.Off, 1},
		"fewer": {func(ctx context.Context) context.Context {
			return httpretry.With(ctx, func(o *httpretry.Options) { o.Attempts = 2 })
		}, 2},
		"on again": {func(ctx context.Context) context.Context {
			return httpretry.With(httpretry.Off(ctx), func(o *httpretry.Options) { o.Off = false; o.Attempts = 3 })
		}, 3},
	} {
		to, asked := serve(t, busy(4))
		request, _ := http.NewRequestWithContext(c.ctx(t.Context()), http.MethodGet, to, nil)
		response, err := client(t, httpretry.Options{}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if asked.Load() != c.asked {
			t.Errorf("%s: asked %d times", name, asked.Load())
		}
	}
}

// In an attempt of somebody further out, which tries again itself, a transport does
// not, and what passes there is seen.
func TestWithin(t *testing.T) {
	to, asked := serve(t, busy(3))
	c := client(t, httpretry.Options{})
	task := &host.Task{Call: host.Call{Remote: true, Read: true}, Clock: &virtual.Clock{}}
	var statuses []int
	_, err := retry.Do(t.Context(), plugin, task, func(ctx context.Context) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
		if err != nil {
			return "", err
		}
		response, err := c.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		if statuses = append(statuses, response.StatusCode); response.StatusCode != http.StatusOK {
			return "", errors.New("own") // which says nothing: it is seen
		}
		return "", nil
	})
	if err != nil || asked.Load() != 3 || fmt.Sprint(statuses) != "[503 503 200]" {
		t.Errorf("%v, asked %d times: %v", err, asked.Load(), statuses)
	}
}

// httpattempt.Do sees through the transport, so that a write rides out too.
func TestWithinDo(t *testing.T) {
	address, listen := deadPort(t)
	clock := &healing{heal: func() { listen(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }}
	request, _ := http.NewRequest(http.MethodPost, "http://"+address, strings.NewReader("order"))
	outcome, err := plugin.Run(t.Context(), &host.Task{
		Call: host.Call{Remote: true}, Clock: clock, Attempt: httpattempt.Do(client(t, httpretry.Options{}), request, nil),
	})
	if err != nil || outcome.Attempts != 2 {
		t.Error(err)
	}
}

// What net/http refuses is refused, also where the transport would add to it.
func TestARequestWithoutAHeader(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		request := &http.Request{Method: method, URL: &url.URL{Scheme: "https", Host: "127.0.0.1:1"}}
		if _, err := client(t, httpretry.Options{}).Transport.RoundTrip(request); err == nil || !strings.Contains(err.Error(), "nil Request.Header") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// http.Request.Cancel ends a wait as a context does; but a Timeout is told as one.
func TestTheCancelChannel(t *testing.T) {
	address, _ := deadPort(t)
	for _, watched := range []string{"", "off"} {
		o := httpretry.Options{Clock: host.SystemClock(), Ready: watched}
		cancel := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(cancel) })
		request, _ := http.NewRequest(http.MethodPost, "http://"+address, strings.NewReader("order"))
		request.Cancel = cancel //lint:ignore SA1019 old clients have it
		began := time.Now()
		_, err := client(t, o).Do(request)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "cancelled") || took > 5*time.Second {
			t.Errorf("%q: %v, after %v", watched, err, took)
		}
		c := client(t, o)
		c.Timeout = 100 * time.Millisecond
		if _, err := c.Get("http://" + address); !endedAtTheDeadline(err) {
			t.Errorf("%q: %v", watched, err)
		}
	}
}

// A deadline is a timeout, as without the transport, whatever the last attempt met.
func TestADeadlineIsATimeout(t *testing.T) {
	address, _ := deadPort(t)
	for _, watched := range []string{"", "off"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
		if _, err := client(t, httpretry.Options{Clock: host.SystemClock(), Ready: watched}).Do(request); !endedAtTheDeadline(err) {
			t.Errorf("%q: %v", watched, err)
		}
	}
}

// endedAtTheDeadline says whether an error is of a call that a deadline cut short. An
// attempt is made at a deadline, and may end a moment before that ends the call: then
// the call's budget is over, and the error is the attempt's.
func endedAtTheDeadline(err error) bool {
	if strings.Contains(fmt.Sprint(err), "the call's own budget of") {
		return true
	}
	return os.IsTimeout(err) && strings.Contains(err.Error(), "outlast: cancelled after")
}

// Of a base that is no *http.Transport it is not known how often it sends.
func TestAnotherBase(t *testing.T) {
	for _, only := range []bool{false, true} {
		address, listen := deadPort(t)
		clock := &healing{heal: func() { listen(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }}
		plain := &http.Transport{}
		base := roundTripper(func(r *http.Request) (*http.Response, error) { return plain.RoundTrip(r) })
		c := &http.Client{Transport: httpretry.New(plugin, base, httpretry.Options{Clock: clock, OnlyRequest: only})}
		response, err := c.Post("http://"+address, "text/plain", strings.NewReader("order"))
		var call *host.CallError
		switch {
		case only && err == nil:
			response.Body.Close()
		case !only && errors.As(err, &call) && call.Outcome.Type == abi.OutcomeIndeterminate:
		default:
			t.Errorf("only: %t: %v, %v", only, response, err)
		}
		plain.CloseIdleConnections()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Goroutines share a transport, and each gets its own answer.
func TestManyAtOnce(t *testing.T) {
	to, _ := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		if n%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	})
	c := client(t, httpretry.Options{Clock: &virtual.Clock{}})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			path := fmt.Sprint("/", i)
			response, err := c.Get(to + path)
			if err != nil {
				t.Error(err)
				return
			}
			if got := text(t, response); got != path {
				t.Errorf("%s got %q", path, got)
			}
		})
	}
	all.Wait()
}
