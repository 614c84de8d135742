package httpattempt

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"outlast/internal/repeat"
)

// Transport is a transport that watches the requests of attempts on their way
// through another, which is http.DefaultTransport where it is nil. Others pass it
// unseen. Watching goes as deep as it stands: put it next to the *http.Transport.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	if t, ok := base.(*transport); ok {
		return t
	}
	t := &transport{base: base}
	if own, ok := base.(*http.Transport); ok {
		t.known = true
		t.http2 = own.Protocols != nil && own.Protocols.UnencryptedHTTP2()
	}
	return t
}

type transport struct {
	base  http.RoundTripper
	known bool // how it sends is known
	http2 bool // what it sends in the clear may be HTTP/2
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	a := attemptOf(ctx)
	if a == nil {
		return t.base.RoundTrip(request)
	}
	if ctx.Err() != nil { // so nothing of it passes
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, context.Cause(ctx)
	}
	e := a.pass(ctx, t)
	ctx = context.WithValue(ctx, exchangeKey{}, e)
	passed := request.WithContext(httptrace.WithClientTrace(ctx, e.trace()))
	e.sendOnce(passed)
	response, err := t.base.RoundTrip(passed)
	e.answered(passed, response, err)
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		response.Body = &receiving{response.Body, e}
	}
	return response, err
}

// sendOnce keeps net/http from sending a request again by itself, which would be
// seen as one request: of a body, since a policy is better at it, and of a write.
//
// A Transport of somebody else's may need to read a body twice, to sign it. Only where
// it is held to send once, and net/http, further in, would take a key for a word that
// a repeat is harmless, it cannot.
func (e *exchange) sendOnce(r *http.Request) {
	write := !repeat.Allowed(r.Context())
	held := e.by.known || write && repeat.Only(r.Context()) && replayable(r)
	switch {
	case hasBody(r):
		r.Body = &sending{r.Body, e}
		if held {
			r.GetBody = nil
		}
	case held && write && r.Method != http.MethodConnect && e.mayResend(r):
		e.emptyBody(r)
	}
	e.replayable = replayable(r)
}

// mayResend says whether net/http may send a request without a body again though
// the server has read it: by HTTP/2, one whose stream the server reset, too.
func (e *exchange) mayResend(r *http.Request) bool {
	return replayable(r) || e.by.http2 || r.URL.Scheme == "https"
}

// emptyBody gives a request a body of no bytes, which net/http cannot know to be
// readable again. Of HTTP/1 the same goes over the wire as without it: no
// Transfer-Encoding, and a Content-Length of 0 where there was one (its name in
// small letters is not taken for net/http's own). HTTP/2 ends the stream by an empty
// frame of data instead of by its header.
func (e *exchange) emptyBody(r *http.Request) {
	if r.Header == nil {
		return // net/http refuses it
	}
	r.Body, r.GetBody, r.TransferEncoding = io.NopCloser(strings.NewReader("")), nil, []string{"identity"}
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		r.Header = r.Header.Clone()
		r.Header["content-length"] = []string{"0"}
	}
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// CloseIdleConnections is what http.Client's needs.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// exchange is one request on its way through a Transport.
type exchange struct {
	by         *transport
	replayable bool // net/http sends it again by itself though the server may have read it

	mu        sync.Mutex
	passedOn  bool  // to another Transport, further in, which sees what is sent
	asked     bool  // for a connection
	waiting   bool  // for one that it has asked for
	handshake error // of TLS, with a new one
	tries     []try // one for each connection that it got
	status    int   // of the answer; 0: none
	err       error // of the round trip, or of reading the answer's body
	own       error // of reading the request's body, which is the caller's
	givenUp   bool  // before it ended by itself: by a context, a time limit
	ended     time.Time
}

// try is one time that a request was given a connection.
type try struct {
	began     time.Time
	reused    bool
	idleSince time.Time // of a connection that was idle
	address   string    // of the other end; "" where it is no plain TCP connection
	http2     bool
	wrote     bool // the request's header has been written
	heard     bool // the first byte of an answer has come
}

func (e *exchange) trace() *httptrace.ClientTrace {
	last := func(note func(*try)) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if n := len(e.tries); n > 0 {
			note(&e.tries[n-1])
		}
	}
	return &httptrace.ClientTrace{
		GetConn: func(string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.asked, e.waiting = true, true
		},
		GotConn: func(info httptrace.GotConnInfo) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.waiting = false
			e.tries = append(e.tries, newTry(&info, e.by.http2))
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.handshake = err
		},
		WroteHeaders:         func() { last(func(t *try) { t.wrote = true }) },
		GotFirstResponseByte: func() { last(func(t *try) { t.heard = true }) },
	}
}

func newTry(info *httptrace.GotConnInfo, http2 bool) try {
	t := try{began: time.Now(), reused: info.Reused, http2: http2}
	if info.WasIdle {
		t.idleSince = t.began.Add(-info.IdleTime)
	}
	if secured, ok := info.Conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		t.http2 = secured.ConnectionState().NegotiatedProtocol == "h2"
	} else if to := info.Conn.RemoteAddr(); to != nil && to.Network() == "tcp" {
		t.address = to.String()
	}
	return t
}

func (e *exchange) answered(request *http.Request, response *http.Response, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err, e.ended = err, time.Now()
	select {
	//lint:ignore SA1019 http.Client ends a request by this at its Timeout
	case <-request.Cancel:
		e.givenUp = err != nil
	default:
		e.givenUp = err != nil && request.Context().Err() != nil
	}
	if response != nil {
		e.status = response.StatusCode
	}
}

// sending is a request's body, which notes its own error.
type sending struct {
	io.ReadCloser
	e *exchange
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		s.e.mu.Lock()
		defer s.e.mu.Unlock()
		s.e.own = err
	}
	return n, err
}

// receiving is an answer's body, which notes what cuts it.
type receiving struct {
	io.ReadCloser
	e *exchange
}

func (r *receiving) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		r.e.mu.Lock()
		defer r.e.mu.Unlock()
		r.e.err, r.e.ended = err, time.Now()
	}
	return n, err
}
