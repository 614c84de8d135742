package httpattempt

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
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
	a := attemptOf(request.Context())
	if a == nil {
		return t.base.RoundTrip(request)
	}
	e := a.pass(request, t)
	passed := request.WithContext(httptrace.WithClientTrace(request.Context(), e.trace()))
	if request.Body != nil && request.Body != http.NoBody {
		passed.Body = &sending{request.Body, e}
		if t.known {
			// So that it sends a body once: what it sends again by itself would be seen
			// as one request, and a policy is better at it.
			passed.GetBody = nil
		}
	}
	response, err := t.base.RoundTrip(passed)
	e.answered(response, err)
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		response.Body = &receiving{response.Body, e}
	}
	return response, err
}

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
	asked     bool  // for a connection
	waiting   bool  // for one that it has asked for
	handshake error // of TLS, with a new one
	tries     []try // one for each connection that it got
	status    int   // of the answer; 0: none
	err       error // of the round trip, or of reading the answer's body
	own       error // of reading the request's body, which is the caller's
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

func (e *exchange) answered(response *http.Response, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err = err; response != nil {
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
		r.e.err = err
	}
	return n, err
}
