package httpattempt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
)

// What a request's body comes to, however it is given: whole each time, or sent
// once. It is never sent empty.
func TestBodies(t *testing.T) {
	for name, c := range map[string]struct {
		body  func() io.Reader
		tries int
	}{
		"a string":                  {func() io.Reader { return strings.NewReader("order") }, 3},
		"a buffer":                  {func() io.Reader { return bytes.NewBufferString("order") }, 3},
		"a reader without a length": {func() io.Reader { return io.MultiReader(strings.NewReader("order")) }, 1},
	} {
		var bodies []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, string(body)); len(bodies) < 3 {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}))
		request, err := http.NewRequest(http.MethodPost, server.URL, c.body())
		if err != nil {
			t.Fatal(err)
		}
		task := &host.Task{
			Call: host.Call{Remote: true, RefusesBeforeActing: true}, Clock: &virtual.Clock{},
			Attempt: httpattempt.Do(server.Client(), request, nil),
		}
		outcome, err := plugin.Run(t.Context(), task)
		if len(bodies) != c.tries || strings.Join(bodies, " ") != strings.TrimSpace(strings.Repeat("order ", c.tries)) {
			t.Errorf("%s: sent %q", name, bodies)
		}
		var refused *httpattempt.StatusError
		switch {
		case c.tries == 3 && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.tries == 1 && (!errors.Is(err, httpattempt.ErrSpent) || !errors.As(err, &refused) || refused.Status != 429 || outcome.Effects != abi.EffectsNone):
			t.Errorf("%s: %+v, %v", name, outcome, err)
		}
		// The same task once more has nothing to send.
		if _, err := plugin.Run(t.Context(), task); c.tries == 1 && (!errors.Is(err, httpattempt.ErrSpent) || len(bodies) != 1) {
			t.Errorf("%s, again: %v, sent %q", name, err, bodies)
		}
		server.Close()
	}
}

// Run's error has the client's own in it.
func TestTheOwnError(t *testing.T) {
	s := newStage(t, nil)
	_, err := plugin.Run(t.Context(), &host.Task{
		Call: host.Call{Remote: true, NoConnectRetry: true}, Attempt: httpattempt.Do(s.client, s.request(t, false), nil),
	})
	var failed *host.CallError
	var dial *net.OpError
	if !errors.As(err, &failed) || !errors.As(err, &dial) || dial.Op != "dial" || failed.Outcome.Effects != abi.EffectsNone {
		t.Errorf("%v", err)
	}
}

// An attempt that a deadline ends says nothing of the server.
func TestADeadline(t *testing.T) {
	s := newStage(t, func(_ *stage, c net.Conn) { io.Copy(io.Discard, c) })
	for _, read := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		outcome, err := plugin.Run(ctx, &host.Task{
			Call: host.Call{Remote: true, Read: read}, Attempt: httpattempt.Do(s.client, s.request(t, read), nil),
		})
		cancel()
		if outcome == nil || outcome.Type != abi.OutcomeCancelled || (outcome.Effects == abi.EffectsUnknown) != !read || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("read %t: %+v, %v", read, outcome, err)
		}
	}
}

// what is the result of one attempt.
func what(t *testing.T, attempt httpattempt.Attempt) (abi.Result, error) {
	t.Helper()
	r, err := attempt(t.Context(), 1)
	if (err == nil) != r.OK() {
		t.Errorf("%+v comes with %v", r, err)
	}
	return r, err
}

// The client's own limit on a request that was sent is a time limit; one on a
// connection is a server that is away.
func TestTheClientsTimeLimit(t *testing.T) {
	s := newStage(t, func(_ *stage, c net.Conn) { io.Copy(io.Discard, c) })
	s.client.Timeout = 30 * time.Millisecond
	if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); !r.TimedOut || r.Failure != "" || r.Sent != abi.SentYes {
		t.Errorf("%+v, %v", r, err)
	}
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
	}}
	if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); r.Failure != abi.FailureUnconnected || r.Sent != abi.SentNo {
		t.Errorf("%+v, %v", r, err)
	}
}

// A request that is no request was not sent, and is nobody's failure but the
// caller's.
func TestAWrongRequest(t *testing.T) {
	s := newStage(t, nil)
	for name, spoil := range map[string]func(*http.Request){
		"a scheme":  func(r *http.Request) { r.URL.Scheme = "gopher" },
		"none":      func(r *http.Request) { r.URL.Scheme = "" },
		"no host":   func(r *http.Request) { r.URL.Host = "" },
		"a method":  func(r *http.Request) { r.Method = "BAD METHOD" },
		"a header":  func(r *http.Request) { r.Header.Set("X", "a\nb") },
		"a trailer": func(r *http.Request) { r.Trailer = http.Header{"X": {"a\nb"}} },
	} {
		request := s.request(t, false)
		spoil(request)
		if r, err := what(t, httpattempt.Do(s.client, request, nil)); r.Failure != "" || r.Sent != abi.SentNo {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	broken := errors.New("own")
	request, err := http.NewRequest(http.MethodPost, newStage(t, status("200 OK")).url, io.MultiReader(strings.NewReader("x"), failing{broken}))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := what(t, httpattempt.Do(s.client, request, nil)); r.Failure != "" || !errors.Is(err, broken) {
		t.Errorf("a body that cannot be read: %+v, %v", r, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// What read makes of an answer counts; an answer is read so far that its
// connection serves again.
func TestRead(t *testing.T) {
	var mu sync.Mutex
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		connections[r.RemoteAddr] = true
		fmt.Fprintf(w, `{"order": 7} %s`, strings.Repeat(" ", 10_000))
	}))
	defer server.Close()
	var answer struct{ Order int }
	for range 3 {
		request, err := http.NewRequest(http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := what(t, httpattempt.Do(server.Client(), request, func(r *http.Response) error {
			return json.NewDecoder(r.Body).Decode(&answer)
		})); err != nil || answer.Order != 7 {
			t.Errorf("%v, %v", answer, err)
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
	wrong := errors.New("wrong")
	request, _ := http.NewRequest(http.MethodPost, server.URL, nil)
	r, err := what(t, httpattempt.Do(server.Client(), request, func(*http.Response) error { return wrong }))
	if !errors.Is(err, wrong) || *r.HTTPStatus != 200 || r.Failure != "" || r.Sent != abi.SentYes {
		t.Errorf("%+v, %v", r, err)
	}
}

// A server's Retry-After, whatever its form.
func TestRetryAfter(t *testing.T) {
	for given, want := range map[string]int64{
		"3": 3e6, " 3 ": 3e6, "0": 0, "99999999999999999999": 9223372036 * 1e6, "in 5": -1, "-1": -1, "1.5": -1, "": -1,
		"Mon, 02 Jan 2006 15:04:05 GMT":                         0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): 3600e6,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", given)
			w.WriteHeader(503)
		}))
		request, _ := http.NewRequest(http.MethodGet, server.URL, nil)
		r, _ := what(t, httpattempt.Do(server.Client(), request, nil))
		server.Close()
		got := int64(-1)
		if r.RetryAfterUS != nil {
			got = *r.RetryAfterUS
		}
		if got != want && (want != 3600e6 || got < 3598e6 || got > want) {
			t.Errorf("%q: %d, want %d", given, got, want)
		}
	}
}

// What a function of its own makes is seen where it passes, but what does not
// pass there is not: nothing is ever called unsent.
func TestFunc(t *testing.T) {
	s := newStage(t, nil)
	client := &http.Client{Transport: httpattempt.Transport(nil)}
	post := func(ctx context.Context, url string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("order"))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return httpattempt.Check(response)
	}
	r, _ := what(t, httpattempt.Func(func(ctx context.Context) error { return post(ctx, s.url) }))
	if r.Failure != abi.FailureUnconnected || r.Sent != abi.SentUnknown || r.OnlyRequest {
		t.Errorf("one request: %+v", r)
	}
	ok := newStage(t, status("200 OK"))
	both := httpattempt.Func(func(ctx context.Context) error { return errors.Join(post(ctx, ok.url), post(ctx, s.url)) })
	if r, err := what(t, both); r.Failure != abi.FailureUnconnected || r.Sent != abi.SentYes || !strings.Contains(err.Error(), "refused") {
		t.Errorf("two requests: %+v, %v", r, err)
	}
	both = httpattempt.Func(func(ctx context.Context) error { return errors.Join(post(ctx, s.url), post(ctx, ok.url)) })
	if r, err := what(t, both); r.Failure != abi.FailureUnconnected || r.Sent != abi.SentYes || !strings.Contains(err.Error(), "refused") {
		t.Errorf("two requests, of which the last ended well: %+v, %v", r, err)
	}
	unseen := httpattempt.Func(func(context.Context) error { return errors.New("own") })
	if r, _ := what(t, unseen); r.Failure != "" || r.Sent != abi.SentUnknown || r.Message.Head != "own" {
		t.Errorf("no request: %+v", r)
	}
	missing := newStage(t, status("404 Not Found"))
	for attempts, c := range []struct {
		f    func(ctx context.Context) error
		want abi.OutcomeType
	}{
		{func(ctx context.Context) error { return post(ctx, s.url) }, abi.OutcomeOK},
		{func(ctx context.Context) error { return post(ctx, missing.url) }, abi.OutcomeFailed},
		{func(ctx context.Context) error { return errors.Join(post(ctx, ok.url), post(ctx, missing.url)) }, abi.OutcomeIndeterminate},
	} {
		got := s.claim(t, httpattempt.Func(c.f))
		if got.outcome.Type != c.want {
			t.Errorf("claimed, %d: %+v, %v", attempts, got.outcome, got.err)
		}
	}
}

// claim makes a write whose caller says that it is the only request.
func (s *stage) claim(t *testing.T, attempt httpattempt.Attempt) *story {
	return s.task(t, &host.Task{Call: host.Call{Remote: true}, OnlyRequest: true, Attempt: attempt})
}

// A transport that is not net/http's may send more than it is given.
func TestAnotherTransport(t *testing.T) {
	s := newStage(t, nil)
	plain := s.client.Transport
	s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { return plain.RoundTrip(r) })
	if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); r.Failure != abi.FailureUnconnected || r.Sent != abi.SentUnknown || r.OnlyRequest {
		t.Errorf("%+v, %v", r, err)
	}
	got := s.call(t, false, httpattempt.Do(s.client, s.request(t, false), nil))
	if got.outcome.Type != abi.OutcomeIndeterminate || !strings.Contains(got.err.Error(), "what else the client's httpattempt_test.roundTripper sent was not seen (host.Task.OnlyRequest") {
		t.Errorf("%+v, %v", got.outcome, got.err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Whatever GOAWAY says is net/http's word for a stream above its last one, and for
// no other: the texts are those of this version of Go.
func TestGoAway(t *testing.T) {
	for _, c := range []struct {
		processed bool
		code      uint32
		sent      abi.Sent
	}{{false, 0, abi.SentNo}, {false, 2, abi.SentNo}, {true, 0, abi.SentYes}, {true, 2, abi.SentYes}} {
		s := secured(newStage(t, func(s *stage, conn net.Conn) { goAway(s, conn, c.processed, c.code) }), "h2")
		if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); r.Failure != abi.FailureBroke || r.Sent != c.sent {
			t.Errorf("processed %t, code %d: %+v, %v", c.processed, c.code, r, err)
		}
	}
}

// A status line that is cut is no answer yet; another protocol's is none at all.
func TestStatusLines(t *testing.T) {
	for line, want := range map[string]abi.Failure{
		"H": abi.FailureBroke, "HTTP/1.": abi.FailureBroke, "HTTP/1.1": abi.FailureBroke, "HTTP/1.1 ": abi.FailureBroke,
		"HTTP/1.1 20": abi.FailureBroke, "HTTP/1.1 200 OK": abi.FailureCut, "SSH-2.0-x\r\n": abi.FailureMalformed,
	} {
		s := newStage(t, answers(func(_ *stage, c net.Conn) {
			io.WriteString(c, line)
			c.Close()
		}))
		if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); r.Failure != want || r.Sent != abi.SentYes {
			t.Errorf("%q: %+v, %v", line, r, err)
		}
	}
}

// A connection that was idle since before the call's first failure is stale; one
// that came after is not.
func TestStale(t *testing.T) {
	s := kept(t, true, nil)
	request, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader("a query"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := what(t, httpattempt.Do(s.client, request, nil)); r.Failure != abi.FailureStale || r.Sent != abi.SentYes {
		t.Errorf("%+v, %v", r, err)
	}
	var n atomic.Int64
	s = newStage(t, answers(func(_ *stage, c net.Conn) {
		if n.Add(1) > 1 {
			c.Close()
			return
		}
		io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	}))
	request, _ = http.NewRequest(http.MethodPost, s.url, strings.NewReader("a query"))
	attempt := httpattempt.Do(s.client, request, nil)
	_, _ = what(t, attempt)
	if r, err := attempt(t.Context(), 2); r.Failure != abi.FailureBroke {
		t.Errorf("after the first failure: %+v, %v", r, err)
	}
}

// TLS 1.3 refuses a client's certificate after the handshake.
func TestARefusedClient(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.TLS = clientsWanted
	server.StartTLS()
	defer server.Close()
	request, _ := http.NewRequest(http.MethodGet, server.URL, nil)
	if r, err := what(t, httpattempt.Do(server.Client(), request, nil)); r.Failure != abi.FailureUntrusted {
		t.Errorf("%+v, %v", r, err)
	}
}

// What net/http tries again by itself when nobody listens any more: of a DELETE it
// does so only if it wrote nothing, of a GET that is a read also after that.
func TestTriedAgainByNetHTTP(t *testing.T) {
	for _, c := range []struct {
		method  string
		writes  bool // the kept connection still takes the request
		read    bool // so of a task that is a read
		failure abi.Failure
		sent    abi.Sent
	}{
		{http.MethodDelete, true, false, abi.FailureStale, abi.SentYes},
		{http.MethodDelete, false, false, abi.FailureUnconnected, abi.SentNo},
		{http.MethodGet, true, false, abi.FailureStale, abi.SentYes},
		{http.MethodGet, true, true, abi.FailureUnconnected, abi.SentYes},
	} {
		var broken atomic.Bool
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &breaking{conn, &broken}, err
		}}}
		s := kept(t, true, client)
		broken.Store(!c.writes)
		request, err := http.NewRequest(c.method, s.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		var r abi.Result
		_, _ = plugin.Run(t.Context(), &host.Task{
			Call: host.Call{Remote: true, Read: c.read, NoConnectRetry: true}, Attempt: httpattempt.Do(client, request, nil),
			Observe: func(e host.Event) {
				if ended, ok := e.(host.AttemptEnded); ok {
					r = ended.Result
				}
			},
		})
		if r.Failure != c.failure || r.Sent != c.sent {
			t.Errorf("%s: %+v", c.method, r)
		}
	}
}

// breaking is a connection that takes no more bytes once it is broken.
type breaking struct {
	net.Conn
	broken *atomic.Bool
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.broken.Load() {
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	return b.Conn.Write(p)
}
