package httpattempt_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/httpattempt"
)

// A write is sent once where net/http would send it again: without a body, on a
// kept connection that breaks after the server has applied it.
func TestAWriteIsSentOnce(t *testing.T) {
	for _, method := range []string{"DELETE", "PROPFIND", "POST", "PUT", "GET", "HEAD", "OPTIONS", "TRACE"} {
		for name, key := range map[string]func(http.Header){
			"no key":     func(http.Header) {},
			"a key":      func(h http.Header) { h.Set("Idempotency-Key", "o-1") },
			"another":    func(h http.Header) { h.Set("X-Idempotency-Key", "o-1") },
			"an empty":   func(h http.Header) { h.Set("Idempotency-Key", "") },
			"one of nil": func(h http.Header) { h["Idempotency-Key"] = nil },
		} {
			s := kept(t, false, nil)
			request, err := http.NewRequest(method, s.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			key(request.Header)
			got := s.call(t, false, httpattempt.Do(s.client, request, nil))
			if got.applied != 1 || got.outcome.Type != abi.OutcomeIndeterminate {
				t.Errorf("%s, %s: %s: %v", method, name, got, got.err)
			}
		}
	}
}

// So it is by a Transport of somebody else's, of which the caller says that it sends
// once, and which may read a body twice all the same.
func TestAnotherTransportSendsOnce(t *testing.T) {
	for _, body := range []string{"", "order"} {
		for _, key := range []string{"", "Idempotency-Key", "X-Idempotency-Key"} {
			s := kept(t, false, nil)
			plain := s.client.Transport
			s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				if key == "" && body != "" && r.GetBody == nil {
					t.Error("a body cannot be read twice")
				}
				return plain.RoundTrip(r)
			})
			request, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if key != "" {
				request.Header.Set(key, "o-1")
			}
			if got := s.claim(t, httpattempt.Do(s.client, request, nil)); got.String() != "1, indeterminate" {
				t.Errorf("%q, %s: %s: %v", body, key, got, got.err)
			}
			plain.(*http.Transport).CloseIdleConnections()
		}
	}
}

// A claim is not believed where the Transport was seen to send before it found nobody.
func TestATransportThatTriesAgain(t *testing.T) {
	s := newStage(t, answers(func(s *stage, c net.Conn) {
		s.close()
		c.Close()
	}))
	plain := s.client.Transport
	s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := plain.RoundTrip(r)
		if err == nil {
			return response, nil
		}
		again := r.Clone(r.Context())
		again.Body, _ = r.GetBody()
		return plain.RoundTrip(again)
	})
	if got := s.claim(t, httpattempt.Do(s.client, s.request(t, false), nil)); got.String() != "1, indeterminate" {
		t.Errorf("%s: %v", got, got.err)
	}
}

// What keeps net/http from sending again does not show in HTTP/1: a request without
// a body has the same lines as it has without outlast.
func TestOnTheWire(t *testing.T) {
	for _, method := range []string{"DELETE", "PROPFIND", "POST", "PUT", "PATCH", "GET", "HEAD", "OPTIONS", "TRACE"} {
		for _, secure := range []bool{false, true} {
			wire := make(chan string, 1)
			s := newStage(t, func(s *stage, c net.Conn) {
				defer c.Close()
				if secure {
					c = tls.Server(c, s.certs.Load())
				}
				in := bufio.NewReader(c)
				lines := ""
				for !strings.HasSuffix(lines, "\r\n\r\n") {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					lines += line
				}
				io.WriteString(c, fine)
				c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
				more, _ := io.ReadAll(in)
				wire <- lines + string(more)
			})
			if secure {
				secured(s)
			}
			request := func() *http.Request {
				r, err := http.NewRequest(method, s.url, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Idempotency-Key", "o-1")
				r.Header.Set("Connection", "close")
				return r
			}
			if _, err := what(t, httpattempt.Do(s.client, request(), nil)); err != nil {
				t.Error(err)
			}
			ours := <-wire
			response, err := s.client.Do(request())
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			lines := <-wire
			if sorted(ours) != sorted(lines) {
				t.Errorf("%s:\n%s\nwithout outlast:\n%s", method, ours, lines)
			}
		}
	}
}

// sorted is a request's lines in small letters, in an order of their own.
func sorted(lines string) string {
	first, rest, _ := strings.Cut(lines, "\r\n")
	headers := strings.Split(strings.ToLower(rest), "\r\n")
	return fmt.Sprint(first, slices.Sorted(slices.Values(headers)))
}

// http2Server reads requests of HTTP/2 whole, applies each, and answers by acts, of
// which the last one serves from then on. Frames go to the stream or the connection.
func http2Server(acts ...func(s *stage, c net.Conn, frame framer, stream uint32)) func(*stage, net.Conn) {
	var n atomic.Int64
	return func(s *stage, raw net.Conn) {
		defer raw.Close()
		c := tls.Server(raw, s.certs.Load())
		if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
			return
		}
		frame := func(kind, flags byte, stream uint32, payload ...byte) {
			header := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
			header = binary.BigEndian.AppendUint32(append(header[1:], kind, flags), stream)
			c.Write(append(header, payload...))
		}
		frame(settingsFrame, 0, 0)
		for {
			var header [9]byte
			if _, err := io.ReadFull(c, header[:]); err != nil {
				return
			}
			io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(header[:])>>8))
			if kind := header[3]; (kind == headersFrame || kind == dataFrame) && header[4]&endsStream != 0 {
				s.applied.Add(1)
				act := acts[min(int(n.Add(1)), len(acts))-1]
				act(s, c, frame, binary.BigEndian.Uint32(header[5:]))
			}
		}
	}
}

type framer func(kind, flags byte, stream uint32, payload ...byte)

const (
	dataFrame, headersFrame, resetFrame, settingsFrame, awayFrame = 0, 1, 3, 4, 7
	endsStream, endsHeaders                                       = 1, 4
	status200                                                     = 0x88 // in HPACK's table
)

func answered(_ *stage, _ net.Conn, frame framer, stream uint32) {
	frame(headersFrame, endsStream|endsHeaders, stream, status200)
}

func resets(code byte) func(*stage, net.Conn, framer, uint32) {
	return func(_ *stage, _ net.Conn, frame framer, stream uint32) { frame(resetFrame, 0, stream, 0, 0, 0, code) }
}

// A stream that the server resets was not processed if it says so (REFUSED_STREAM),
// and else nobody knows: net/http sends one without a body again after
// PROTOCOL_ERROR too.
func TestResetStreams(t *testing.T) {
	const protocolError, internalError, refusedStream = 1, 2, 7
	for _, method := range []string{"DELETE", "POST", "GET"} {
		for _, body := range []io.Reader{nil, strings.NewReader("x")} {
			for code, want := range map[byte]string{protocolError: "1, indeterminate", internalError: "1, indeterminate", refusedStream: "2, ok"} {
				s := secured(newStage(t, http2Server(resets(code), answered)), "h2")
				request, err := http.NewRequest(method, s.url, body)
				if err != nil {
					t.Fatal(err)
				}
				if got := s.call(t, false, httpattempt.Do(s.client, request, nil)); got.String() != want {
					t.Errorf("%s, body %t, reset with %d: %s: %v", method, body != nil, code, got, got.err)
				}
				if seeker, ok := body.(io.Seeker); ok {
					seeker.Seek(0, io.SeekStart)
				}
			}
		}
	}
}

// An answer of HTTP/2 that ends after its headers is cut; one of 103 is none yet.
func TestCutStreams(t *testing.T) {
	begin := func(frame framer, stream uint32) { frame(headersFrame, endsHeaders, stream, status200) }
	for name, c := range map[string]struct {
		act     func(*stage, net.Conn, framer, uint32)
		failure abi.Failure
		sent    abi.Sent
	}{
		"reset": {func(_ *stage, _ net.Conn, frame framer, stream uint32) {
			begin(frame, stream)
			frame(resetFrame, 0, stream, 0, 0, 0, 2)
		}, abi.FailureCut, abi.SentYes},
		"GOAWAY": {func(_ *stage, c net.Conn, frame framer, stream uint32) {
			begin(frame, stream)
			frame(awayFrame, 0, 0, 0, 0, 0, byte(stream), 0, 0, 0, 2)
			c.Close()
		}, abi.FailureCut, abi.SentYes},
		"GOAWAY below it": {func(_ *stage, c net.Conn, frame framer, stream uint32) {
			begin(frame, stream)
			frame(awayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			c.Close()
		}, abi.FailureCut, abi.SentYes},
		"closed": {func(_ *stage, c net.Conn, frame framer, stream uint32) {
			begin(frame, stream)
			c.Close()
		}, abi.FailureCut, abi.SentYes},
		"103, GOAWAY below it": {func(_ *stage, c net.Conn, frame framer, stream uint32) {
			frame(headersFrame, endsHeaders, stream, append([]byte{0x08, 3}, "103"...)...)
			frame(awayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			c.Close()
		}, abi.FailureBroke, abi.SentNo},
	} {
		s := secured(newStage(t, http2Server(c.act)), "h2")
		if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), whole)); r.Failure != c.failure || r.Sent != c.sent {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// late is a connection whose writes return late, as where its goroutine is held up.
type late struct {
	net.Conn
	is *atomic.Bool
}

func (l late) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if l.is.Load() {
		time.Sleep(150 * time.Millisecond)
	}
	return n, err
}

// A time limit ends a request of HTTP/2 while its header is being written, so that
// nobody knows whether it was.
func TestATimeLimitWhileWriting(t *testing.T) {
	for _, secure := range []bool{true, false} {
		for _, method := range []string{"DELETE", "POST"} {
			for _, own := range []bool{true, false} {
				act := func(_ *stage, c net.Conn) { io.Copy(io.Discard, c) }
				if secure {
					act = http2Server(answered, func(*stage, net.Conn, framer, uint32) {})
				}
				s := newStage(t, act)
				held := &atomic.Bool{}
				if secure {
					secured(s, "h2")
				}
				s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := new(net.Dialer).DialContext(ctx, network, address)
					return late{c, held}, err
				}
				if secure {
					if response, err := s.client.Get(s.url); err == nil {
						response.Body.Close()
					}
				}
				held.Store(true)
				request, err := http.NewRequest(method, s.url, nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				if own {
					cancel()
					ctx, cancel = context.WithCancel(t.Context())
					s.client.Timeout = 50 * time.Millisecond
				}
				r, err := httpattempt.Do(s.client, request, nil)(ctx, 1)
				cancel()
				if err == nil || r.Sent == abi.SentNo {
					t.Errorf("HTTP/2 %t, %s, the client's own limit %t: %+v, %v", secure, method, own, r, err)
				}
			}
		}
	}
}

// An error of the request's own body may read like one of the connection's.
func TestABodysOwnGoAway(t *testing.T) {
	s := secured(newStage(t, http2Server(answered)), "h2")
	own := errors.New("http2: Transport received Server's graceful shutdown GOAWAY")
	request, err := http.NewRequest(http.MethodPost, s.url, io.MultiReader(strings.NewReader("rows"), failing{own}))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := what(t, httpattempt.Do(s.client, request, nil)); r.Sent == abi.SentNo {
		t.Errorf("%+v, %v", r, err)
	}
}

// An error of read after a good answer is the attempt's, but no answer of its server.
func TestReadOfAnother(t *testing.T) {
	other := &httpattempt.StatusError{Status: http.StatusTooManyRequests, RetryAfter: new(time.Duration)}
	for _, status := range []int{404, 412, 429, 503} {
		other.Status = status
		s := newStage(t, says(fine))
		got := s.task(t, &host.Task{
			Call:    host.Call{Remote: true, RefusesBeforeActing: true},
			Attempt: httpattempt.Do(s.client, s.request(t, false), func(*http.Response) error { return fmt.Errorf("beside it: %w", other) }),
		})
		if got.String() != "1, indeterminate" || !errors.Is(got.err, other) {
			t.Errorf("%d: %s: %v", status, got, got.err)
		}
	}
}

// A request that passes two Transports, one within another's, is one.
func TestOneWithinAnother(t *testing.T) {
	for name, claim := range map[string]bool{"claimed": true, "a read": false} {
		s := newStage(t, nil)
		inner := httpattempt.Transport(s.client.Transport)
		s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { return inner.RoundTrip(r) })
		got := s.task(t, &host.Task{
			Call: host.Call{Remote: true, Read: !claim}, OnlyRequest: claim,
			Attempt: httpattempt.Do(s.client, s.request(t, false), nil),
		})
		if got.String() != "1, ok, rode it out" {
			t.Errorf("%s: %s: %v", name, got, got.err)
		}
	}
	// A client that sends twice has sent two.
	s := newStage(t, says(fine))
	dead := newStage(t, nil)
	inner := httpattempt.Transport(s.client.Transport)
	s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := inner.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		return inner.RoundTrip(dead.request(t, false).WithContext(r.Context()))
	})
	if got := s.claim(t, httpattempt.Do(s.client, s.request(t, false), nil)); got.String() != "1, indeterminate" {
		t.Errorf("sent twice: %s: %v", got, got.err)
	}
}

// A client that nobody watches tells by its error what happened: enough for a read,
// and for a write of which the caller says the rest.
func TestUnwatched(t *testing.T) {
	for name, c := range map[string]struct {
		make func(s *stage) error
		read string
	}{
		"refused": {func(s *stage) error {
			response, err := s.client.Post(s.url, "text/plain", strings.NewReader("x"))
			if err != nil {
				return fmt.Errorf("sdk: %w", err)
			}
			defer response.Body.Close()
			return httpattempt.Check(response)
		}, "1, ok, rode it out"},
		"dialled": {func(s *stage) error {
			c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/orders"))
			if err != nil {
				return err
			}
			return c.Close()
		}, "0, ok, rode it out"},
	} {
		for _, read := range []bool{true, false} {
			s := newStage(t, nil)
			got := s.task(t, &host.Task{
				Call: host.Call{Remote: true, Read: read}, OnlyRequest: !read,
				Attempt: httpattempt.Func(func(context.Context) error { return c.make(s) }),
			})
			if got.String() != c.read {
				t.Errorf("%s, read %t: %s: %v", name, read, got, got.err)
			}
		}
	}
	r, _ := what(t, httpattempt.Func(func(context.Context) error { return &net.DNSError{Err: "no such host"} }))
	if r.Failure != abi.FailureUnresolved || r.Sent != abi.SentUnknown {
		t.Errorf("%+v", r)
	}
	server := newStage(t, says(fine))
	url := secured(newStage(t, func(s *stage, c net.Conn) { tls.Server(c, s.certs.Load()).Handshake() })).url
	for want, failing := range map[abi.Failure]string{abi.FailureUntrusted: url, abi.FailureUnresolved: "http://nosuch.invalid"} {
		r, err := what(t, httpattempt.Func(func(context.Context) error { _, err := http.Get(failing); return err }))
		if r.Failure != want || r.Sent != abi.SentUnknown {
			t.Errorf("%s: %+v, %v", failing, r, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	// What the caller has said, the error does not advise.
	got := server.claim(t, httpattempt.Func(func(context.Context) error { return errors.New("own") }))
	if got.outcome.Type != abi.OutcomeIndeterminate || strings.Contains(got.err.Error(), "OnlyRequest") {
		t.Error(got.err)
	}
}

// The request that an attempt failed by decides, and not the one that began last.
func TestWhichDecides(t *testing.T) {
	client := &http.Client{Transport: httpattempt.Transport(&http.Transport{})}
	get := func(ctx context.Context, url string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
	away, fine, missing := newStage(t, nil), newStage(t, says(fine)), newStage(t, status("404 Not Found"))
	for name, f := range map[string]func(ctx context.Context) error{
		"told elsewhere, which works": func(ctx context.Context) error {
			err := get(ctx, away.url)
			_ = get(ctx, fine.url)
			return err
		},
		"told elsewhere, which fails": func(ctx context.Context) error {
			err := get(ctx, away.url)
			_ = get(ctx, missing.url)
			return err
		},
		"without its error": func(ctx context.Context) error {
			_ = get(ctx, missing.url)
			err := get(ctx, away.url)
			_ = get(ctx, fine.url)
			return fmt.Errorf("sdk: %v", err)
		},
	} {
		if r, err := what(t, httpattempt.Func(f)); r.Failure != abi.FailureUnconnected || r.HTTPStatus != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	client.CloseIdleConnections()
}

// The request's own context ends the call, and one that is done begins none.
func TestTheRequestsContext(t *testing.T) {
	s := newStage(t, func(s *stage, c net.Conn) { io.Copy(io.Discard, c) })
	own, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got := s.call(t, false, httpattempt.Do(s.client, s.request(t, false).WithContext(own), nil))
	if got.outcome.Type != abi.OutcomeIndeterminate || got.outcome.Attempts != 1 {
		t.Errorf("%+v, %v", got.outcome, got.err)
	}
	got = s.call(t, false, httpattempt.Do(s.client, s.request(t, false).WithContext(own), nil))
	if got.String() != "0, failed" || got.outcome.Effects != abi.EffectsNone {
		t.Errorf("%+v, %v", got.outcome, got.err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	outcome, err := plugin.Run(done, &host.Task{Call: host.Call{Remote: true}, Attempt: httpattempt.Do(s.client, s.request(t, false), nil)})
	if outcome == nil || outcome.Type != abi.OutcomeCancelled || outcome.Effects != abi.EffectsNone {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// A deadline holds whatever the server answers.
func TestADeadlineAfterSwitching(t *testing.T) {
	s := newStage(t, answers(func(_ *stage, c net.Conn) {
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		io.Copy(io.Discard, c)
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	r, err := httpattempt.Do(s.client, s.request(t, false), nil)(ctx, 1)
	if r.HTTPStatus == nil || *r.HTTPStatus != 101 || r.Sent != abi.SentYes || time.Since(began) > 5*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

// A proxy that refuses to connect for good is not waited for.
func TestAProxyThatRefuses(t *testing.T) {
	for line, want := range map[string]abi.Failure{
		"407 Proxy Authentication Required": abi.FailureUntrusted, "403 Forbidden": abi.FailureUntrusted,
		"503 Service Unavailable": abi.FailureUnconnected, "429 Too Many Requests": abi.FailureUnconnected,
	} {
		proxy := newStage(t, status(line))
		s := secured(newStage(t, nil))
		s.client.Transport.(*http.Transport).Proxy = func(*http.Request) (*neturl.URL, error) { return neturl.Parse(proxy.url) }
		if r, err := what(t, httpattempt.Do(s.client, s.request(t, false), nil)); r.Failure != want || r.Sent != abi.SentNo {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}

// A request whose body is spent is refused, in whichever task, and keeps why the
// attempt before it failed.
func TestSpentRequests(t *testing.T) {
	s := newStage(t, says(fine))
	request := func(url string) *http.Request {
		r, err := http.NewRequest(http.MethodPost, url, io.MultiReader(strings.NewReader("order")))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	once := request(s.url)
	for n := range 2 {
		got := s.call(t, false, httpattempt.Do(s.client, once, nil))
		var failed *host.CallError
		if spent := errors.Is(got.err, httpattempt.ErrSpent); got.applied != 1 || spent != (n == 1) || errors.As(got.err, &failed) != spent || got.outcome.Effects != abi.EffectsNone {
			t.Errorf("%d: %s: %v", n, got, got.err)
		}
	}
	once.Body = io.NopCloser(strings.NewReader("another"))
	if got := s.call(t, false, httpattempt.Do(s.client, once, nil)); got.String() != "2, ok" {
		t.Errorf("with another body: %s: %v", got, got.err)
	}
	runtime.KeepAlive(once)
	away := newStage(t, nil)
	again, own := request(away.url), errors.New("no more")
	again.GetBody = func() (io.ReadCloser, error) { return nil, own }
	got := away.call(t, false, httpattempt.Do(away.client, again, nil))
	var dial *net.OpError
	if got.outcome.Effects != abi.EffectsNone || !errors.Is(got.err, own) || !errors.As(got.err, &dial) || got.outcome.Attempts != 2 || !strings.Contains(got.err.Error(), "not tried again, since it cannot be repeated") {
		t.Errorf("GetBody: %+v, %v", got.outcome, got.err)
	}
}

// A write that was written, and whose connection then broke, is told as that, even
// if the server closes each connection by the time that one looks.
func TestAWriteThatWasWritten(t *testing.T) {
	s := closing(t)
	done := s.call(t, false, httpattempt.Do(s.client, s.request(t, false), nil))
	if o := done.outcome; o.Type != abi.OutcomeIndeterminate || o.Kind != "interrupted" {
		t.Errorf("%s, %s: %s", o.Type, o.Kind, o.Remedy)
	}
}
