package httpattempt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"outlast/abi"
	"outlast/ready"
)

// attempt is what was seen of one attempt.
type attempt struct {
	call  *call
	began time.Time

	mu        sync.Mutex
	exchanges []*exchange
}

type attemptKey struct{}

func (a *attempt) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// pass notes a request that is about to pass.
func (a *attempt) pass(r *http.Request, by *transport) *exchange {
	e := &exchange{by: by, replayable: replayable(r)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.exchanges = append(a.exchanges, e)
	return e
}

// replayable says whether net/http sends a request again that the server may have
// read: one of a method that is safe, or with a key.
func replayable(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != ""
}

// end is the attempt's result, and its own error. all says that nothing but what
// was seen can have been sent.
func (a *attempt) end(ctx context.Context, err error, all bool) (abi.Result, error) {
	if err == nil {
		status := int64(http.StatusOK)
		return abi.Result{HTTPStatus: &status}, nil
	}
	if a.call.failing.IsZero() {
		a.call.failing = a.began
	}
	a.mu.Lock()
	exchanges := a.exchanges
	a.mu.Unlock()
	r := abi.Result{Message: abi.Clip(cmp.Or(oneLine(err.Error()), "failed"))}
	requests := sentBy(exchanges, all, &r)
	if len(exchanges) > 0 {
		culprit(exchanges, err).put(ctx, a.call, err, &r)
	}
	var status *StatusError
	if errors.As(err, &status) && r.Failure == "" {
		status.put(&r)
	}
	return r, &attemptError{err, requests, a.unseen(&r, all)}
}

// unseen is what is not known of an attempt that may have sent something.
func (a *attempt) unseen(r *abi.Result, all bool) string {
	switch {
	case r.Sent != abi.SentUnknown:
		return ""
	case !all:
		return "what else the attempt's function sent was not seen (host.Task.OnlyRequest says that it was nothing)"
	}
	for _, e := range a.exchanges {
		if !e.by.known {
			return fmt.Sprintf("what else the client's %T sent was not seen (host.Task.OnlyRequest says that it was nothing)", e.by.base)
		}
	}
	return ""
}

// attemptError is an attempt's own error, with what host asks of one.
type attemptError struct {
	error
	requests int
	unseen   string
}

func (e *attemptError) Unwrap() error { return e.error }

// Requests is how many were seen: several take back host.Task.OnlyRequest.
func (e *attemptError) Requests() int { return e.requests }

// Unseen is what would have been evidence that nothing was sent, "" if nothing.
func (e *attemptError) Unseen() string { return e.unseen }

// sentBy says in a result what an attempt sent, and counts its requests.
func sentBy(exchanges []*exchange, all bool, r *abi.Result) (requests int) {
	sent := 0
	for _, e := range exchanges {
		n, sure := e.sent()
		sent += n
		all = all && sure
	}
	switch {
	case sent > 0:
		r.Sent = abi.SentYes
	case all:
		r.Sent = abi.SentNo
	default:
		r.Sent = abi.SentUnknown
	}
	requests = max(sent, len(exchanges))
	r.OnlyRequest = all && requests == 1
	return requests
}

// sent is how often the request was sent so that it can have had effects, as far
// as was seen. sure says that no more can have been.
func (e *exchange) sent() (n int, sure bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.tries {
		if e.tries[i].wrote && !e.leftOut(i) {
			n++
		}
	}
	if e.status != 0 {
		n = max(n, 1)
	}
	return n, e.by.known && e.asked
}

// leftOut says whether it is known that the server did not act on a try, though
// its header was written.
func (e *exchange) leftOut(i int) bool {
	if i == len(e.tries)-1 && !e.waiting {
		return e.tries[i].http2 && isGoAway(e.err)
	}
	// Of HTTP/1 net/http sends a request again that is not replayable only if it
	// wrote nothing of it to the connection; HTTP/2 has other reasons.
	return !e.tries[i].http2 && !e.replayable
}

// isGoAway says whether an error is net/http's own for a stream above the
// last_stream_id of a GOAWAY: the server has not processed it. These errors have
// no type; a test holds their texts, none of which a server can bring about in
// another way.
func isGoAway(err error) bool {
	if err == nil {
		return false
	}
	const graceful = "http2: Transport received Server's graceful shutdown GOAWAY"
	switch text := err.Error(); text {
	case graceful, "http2: Transport: cannot retry err [" + graceful + "] after Request.Body was written; define Request.GetBody to avoid this error":
		return true
	default:
		return strings.HasPrefix(text, "http2: Transport received GOAWAY from server ErrCode:")
	}
}

// culprit is the request whose error is the attempt's own: of several at once, the
// one that began last may have ended well.
func culprit(exchanges []*exchange, own error) *exchange {
	for _, e := range slices.Backward(exchanges) {
		if e.isIn(own) {
			return e
		}
	}
	return exchanges[len(exchanges)-1]
}

// isIn says whether an error is, or wraps, that of the request. A client puts an
// error of its own in place of the one that its time limit led to.
func (e *exchange) isIn(own error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err != nil && (errors.Is(own, e.err) || isTimeout(own))
}

// put says in a result how a request ended; own is the attempt's error.
func (e *exchange) put(ctx context.Context, c *call, own error, r *abi.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.status != 0 {
		status := int64(e.status)
		r.HTTPStatus = &status
	}
	if e.err == nil || e.own != nil || ctx.Err() != nil || errors.Is(e.err, context.Canceled) {
		return
	}
	if len(e.tries) == 0 || e.waiting {
		r.Failure = e.unconnected()
		return
	}
	if last := &e.tries[len(e.tries)-1]; isTimeout(e.err) || isTimeout(own) {
		r.TimedOut = true // the client's own limit, of which only the client may say so
	} else {
		r.Failure = e.broken(ctx, c, last)
	}
}

// unconnected is the failure of a request that got no connection, at last; "" where
// it did not come so far.
func (e *exchange) unconnected() abi.Failure {
	var name *net.DNSError
	switch {
	case !e.asked && !errors.As(e.err, new(*net.OpError)):
		return ""
	case errors.As(e.err, &name):
		return abi.FailureUnresolved
	case e.handshake != nil && !isTimeout(e.handshake) && !isGone(e.handshake):
		return abi.FailureUntrusted
	}
	return abi.FailureUnconnected
}

// broken is the failure of a request whose connection stood.
func (e *exchange) broken(ctx context.Context, c *call, last *try) abi.Failure {
	switch {
	case isAlert(e.err):
		return abi.FailureUntrusted // as TLS 1.3 refuses a client's certificate
	case last.heard || e.status != 0:
		if isGone(e.err) {
			return abi.FailureCut
		}
		return abi.FailureMalformed
	case isGoAway(e.err):
		return abi.FailureBroke
	case last.reused && !last.idleSince.IsZero() && last.idleSince.Before(c.failing):
		return abi.FailureStale
	case !last.reused && last.address != "" && ready.Closes(ctx, last.address):
		return abi.FailureUnconnected
	}
	return abi.FailureBroke
}

// isGone says whether a connection was closed or reset, or could not be made.
func isGone(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &op) && !isAlert(err)
}

// isAlert says whether one side of a TLS connection refused the other.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

func isTimeout(err error) bool {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Timeout()
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
