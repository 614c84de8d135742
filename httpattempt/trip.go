package httpattempt

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"outlast/abi"
)

// Trip is one request on its way through a transport, attempt by attempt: for an
// http.RoundTripper that tries again, as package httpretry's. It follows no redirect,
// and an answer whose status is below 400 is a success. It is for one goroutine.
type Trip struct {
	// Timeout ends an attempt that has no answer's header by then, in real time; 0:
	// never.
	Timeout time.Duration

	base     http.RoundTripper
	request  *http.Request
	body     *lending // nil: there is none, or it can be had again
	made     bool     // an attempt
	call     call
	last     abi.Result
	err      error
	response *http.Response
}

// RoundTrip is the trip of a request through base, which Transport watches. The
// request's body is closed in any case, once End has been called.
func RoundTrip(base http.RoundTripper, request *http.Request) *Trip {
	t := &Trip{base: Transport(base), request: request}
	if hasBody(request) && request.GetBody == nil {
		t.body = &lending{body: request.Body}
	}
	return t
}

// Attempt is what host.Task.Attempt is. It drops the answer of the attempt before.
func (t *Trip) Attempt(ctx context.Context, n int64) (abi.Result, error) {
	t.Drop()
	body, err := t.again(n)
	if err != nil {
		return unmade(t.last, t.err, err)
	}
	t.made = true
	a := t.call.begin()
	limited, stop := t.limited(a.in(ctx))
	request := t.request.WithContext(limited)
	request.Body = body
	t.response, err = t.base.RoundTrip(request)
	late := stop(t.response)
	if err == nil && late {
		t.Drop()
		err = errLate
	}
	if t.response != nil {
		t.response.Request = t.request
		if t.response.StatusCode >= http.StatusBadRequest {
			err = &StatusError{Status: t.response.StatusCode, RetryAfter: retryAfter(t.response.Header)}
		}
	}
	if late = late && err != nil && ctx.Err() == nil; late {
		ctx = limited
	}
	t.last, t.err = a.end(ctx, err, true)
	t.last.TimedOut = t.last.TimedOut || late
	if err != nil && t.body != nil && t.body.read.Load() {
		return unmade(t.last, t.err, ErrSpent)
	}
	return t.last, t.err
}

// Drop reads what is left of the last attempt's answer, as far as is soon done, so
// that its connection can serve again, and closes it. What net/http decompresses is
// closed unread.
func (t *Trip) Drop() {
	if t.response == nil {
		return
	}
	response := t.response
	t.response = nil
	if response.Uncompressed { // whose Close waits for a Read that waits for gzip's header
		response.Body.Close()
		return
	}
	late := time.AfterFunc(dropped, func() { response.Body.Close() })
	defer late.Stop()
	finish(response)
}

// End ends the trip. The answer is the last attempt's, nil if it came to none; its
// body is the caller's to close.
func (t *Trip) End() *http.Response {
	switch {
	case t.body != nil:
		t.body.end()
	case !t.made && t.request.Body != nil:
		t.request.Body.Close()
	}
	return t.response
}

// dropped is how long the rest of an answer that nobody wants is read for (a choice: a
// new connection takes no longer).
const dropped = 100 * time.Millisecond

// again is the request's body for attempt n.
func (t *Trip) again(n int64) (io.ReadCloser, error) {
	switch {
	case t.body != nil:
		return t.body.lend()
	case n == 1 || !hasBody(t.request):
		return t.request.Body, nil
	}
	return anew(t.request)
}

// errLate is why an attempt's context is done at Timeout.
var errLate = errors.New("httpattempt: no answer within the attempt's time limit")

// limited is a context that lasts as long as an attempt's answer is read, but to
// Timeout only if there is none by then. stop says whether it was so.
func (t *Trip) limited(ctx context.Context) (limited context.Context, stop func(*http.Response) (late bool)) {
	if t.Timeout == 0 {
		return ctx, func(*http.Response) bool { return false }
	}
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(t.Timeout, func() { cancel(errLate) })
	return limited, func(response *http.Response) bool {
		late := !timer.Stop()
		if response == nil || late || response.StatusCode == http.StatusSwitchingProtocols {
			cancel(nil) // whose body is the connection, which a context does not end
		} else {
			response.Body = &ending{response.Body, cancel}
		}
		return late
	}
}

// ending is an answer's body that ends its context with it.
type ending struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.cancel(nil)
	}
	return n, err
}

func (e *ending) Close() error {
	defer e.cancel(nil)
	return e.ReadCloser.Close()
}

// lending is a body that cannot be had again, for one attempt after the other until
// one reads from it: one that found no connection has not.
type lending struct {
	body io.ReadCloser
	read atomic.Bool

	mu     sync.Mutex
	to     *lent
	closed bool // by whom it was lent to, unread
	ended  bool
}

// lend gives the body to an attempt, and to no attempt before it any more.
func (l *lending) lend() (io.ReadCloser, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read.Load() {
		return nil, ErrSpent
	}
	l.to, l.closed = &lent{l}, false
	return l.to, nil
}

// end closes the body, unless somebody still has it, who does.
func (l *lending) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; l.closed || l.to == nil {
		l.body.Close()
	}
}

// lent is a body in an attempt's hands.
type lent struct{ from *lending }

func (b *lent) Read(p []byte) (int, error) {
	l := b.from
	l.mu.Lock()
	if l.to != b || l.closed {
		l.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	l.read.Store(true)
	l.mu.Unlock()
	return l.body.Read(p)
}

func (b *lent) Close() error {
	l := b.from
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != b {
		return nil
	}
	if l.closed = true; l.read.Load() || l.ended {
		return l.body.Close()
	}
	return nil
}
