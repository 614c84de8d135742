package httpattempt

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"outlast/abi"
	"outlast/internal/repeat"
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

type exchangeKey struct{}

// pass notes a request that is about to pass.
func (a *attempt) pass(ctx context.Context, by *transport) *exchange {
	if outer, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		outer.mu.Lock()
		outer.passedOn = true
		outer.mu.Unlock()
	}
	e := &exchange{by: by}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.exchanges = append(a.exchanges, e)
	return e
}

// replayable says whether net/http sends a request again by HTTP/1 that the server
// may have read: one whose body it can read again, of a method that is safe, or with
// a key, be it empty.
func replayable(r *http.Request) bool {
	if hasBody(r) && r.GetBody == nil {
		return false
	}
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := r.Header["Idempotency-Key"]
	_, other := r.Header["X-Idempotency-Key"]
	return key || other
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
	last, its := decides(exchanges, err)
	if (all || its || !told(ctx, err, &r)) && last != nil {
		last.put(ctx, a.call, err, &r)
	}
	// Another's answer, by which an error is known too, is not the attempt's.
	var status *StatusError
	if errors.As(err, &status) && r.Failure == "" && (its || last == nil && !all) {
		status.put(&r)
	}
	return r, &attemptError{err, requests, a.unseen(&r, all)}
}

// decides is the request whose failure is the attempt's: the one that err is of
// (its), else the one that failed last, else the last one.
func decides(exchanges []*exchange, err error) (last *exchange, its bool) {
	most := -1
	for _, e := range exchanges {
		if rank := e.rank(err); last == nil || rank > most || rank == most && !e.ended.Before(last.ended) {
			last, most = e, rank
		}
	}
	return last, most == ranks-1
}

// rank is how near an exchange is to being the failure that err is of.
func (e *exchange) rank(err error) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	var status *StatusError
	failed := e.err != nil && !errors.Is(e.err, context.Canceled)
	switch {
	case e.passedOn:
		return 0
	case failed && (errors.Is(err, e.err) || isTimeout(err)), // a client's time limit has an error of its own
		e.err == nil && errors.As(err, &status) && e.status == status.Status:
		return ranks - 1
	case failed, e.status >= 400:
		return 2
	}
	return 1
}

const ranks = 4

// told puts the failure that an error is of itself into a result, for requests that
// nobody saw.
func told(ctx context.Context, err error, r *abi.Result) bool {
	switch {
	case ctx.Err() != nil, errors.Is(err, context.Canceled), errors.As(err, new(*StatusError)):
		return false
	case errors.As(err, new(*net.DNSError)):
		r.Failure = abi.FailureUnresolved
	case isDialling(err):
		r.Failure = abi.FailureUnconnected
	case isUntrusted(err):
		r.Failure = abi.FailureUntrusted
	case isTimeout(err):
		r.TimedOut = true
	case isGone(err):
		r.Failure = abi.FailureBroke
	default:
		return false
	}
	return true
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
	seen := 0
	for _, e := range exchanges {
		n, passedOn, sure := e.sent()
		all = all && sure
		if !passedOn { // else counted further in
			sent += n
			seen++
		}
	}
	switch {
	case sent > 0:
		r.Sent = abi.SentYes
	case all:
		r.Sent = abi.SentNo
	default:
		r.Sent = abi.SentUnknown
	}
	requests = max(sent, seen)
	r.OnlyRequest = all && requests == 1
	return requests
}

// sent is how often the request was sent so that it can have had effects, as far
// as was seen. sure says that no more can have been.
func (e *exchange) sent() (n int, passedOn, sure bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sure = e.by.known && (e.asked || isNoRequest(e.err))
	for i := range e.tries {
		switch {
		case e.tries[i].wrote && !e.leftOut(i):
			n++
		case !e.tries[i].wrote && e.tries[i].http2 && e.givenUp:
			sure = false // net/http does not wait for the goroutine that may be writing
		}
	}
	if e.status != 0 {
		n = max(n, 1)
	}
	return n, e.passedOn, sure
}

// isNoRequest says whether net/http did not even ask for a connection, since the
// request is none. These errors have no type.
func isNoRequest(err error) bool {
	if err == nil {
		return false
	}
	for _, begins := range []string{"net/http: invalid ", "unsupported protocol scheme", "http: no Host in request URL", "http: nil Request."} {
		if strings.HasPrefix(err.Error(), begins) {
			return true
		}
	}
	return false
}

// leftOut says whether it is known that the server did not act on a try, though
// its header was written.
func (e *exchange) leftOut(i int) bool {
	if i == len(e.tries)-1 && !e.waiting {
		return e.tries[i].http2 && e.unprocessed()
	}
	// Of HTTP/1 net/http sends a request again that is not replayable only if it
	// wrote nothing of it to the connection; HTTP/2 and others have other reasons.
	return e.by.known && !e.tries[i].http2 && !e.replayable
}

// unprocessed says whether the server said that it has not processed a request of
// HTTP/2, before an answer: by a GOAWAY whose last_stream_id is below its stream, or
// by resetting that with REFUSED_STREAM (RFC 9113, section 8.7). net/http's errors
// for these have no type; a test holds their texts, none of which a server can bring
// about in another way. An error of the request's own body may have the same text.
func (e *exchange) unprocessed() bool {
	return e.err != nil && e.own == nil && e.status == 0 && unprocessed.MatchString(e.err.Error())
}

var unprocessed = regexp.MustCompile(`^(http2: Transport received Server's graceful shutdown GOAWAY` +
	`|http2: Transport received GOAWAY from server ErrCode:.*` +
	`|http2: Transport: cannot retry err \[(http2: Transport received Server's graceful shutdown GOAWAY` +
	`|stream error: stream ID [0-9]+; REFUSED_STREAM; received from peer)\] after Request\.Body was written; .*` +
	`|stream error: stream ID [0-9]+; REFUSED_STREAM; received from peer)$`)

// isReset says whether an error is net/http's own for a stream or a connection of
// HTTP/2 that the server ended.
func isReset(err error) bool { return reset.MatchString(err.Error()) }

var reset = regexp.MustCompile(`^(stream error: stream ID [0-9]+; [A-Z0-9_]+; received from peer$` +
	`|http2: Transport received |http2: server sent GOAWAY and closed the connection|http2: client connection lost$)`)

// put says in a result how the last request ended; own is the attempt's error.
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
	case e.handshake != nil && !isTimeout(e.handshake) && !isGone(e.handshake), isForbidden(e.err):
		return abi.FailureUntrusted
	}
	return abi.FailureUnconnected
}

// isForbidden says whether a proxy refused to connect for a reason that stays, such
// as a password that it wants: net/http's error is the text of that answer's status.
func isForbidden(err error) bool {
	switch err.Error() {
	case http.StatusText(http.StatusBadRequest), http.StatusText(http.StatusUnauthorized), http.StatusText(http.StatusForbidden),
		http.StatusText(http.StatusNotFound), http.StatusText(http.StatusMethodNotAllowed), http.StatusText(http.StatusProxyAuthRequired):
		return true
	}
	return false
}

// broken is the failure of a request whose connection stood.
func (e *exchange) broken(ctx context.Context, c *call, last *try) abi.Failure {
	switch {
	case isAlert(e.err):
		return abi.FailureUntrusted // as TLS 1.3 refuses a client's certificate
	case e.unprocessed(), begun.MatchString(e.err.Error()):
		return abi.FailureBroke
	case last.heard || e.status != 0:
		if isGone(e.err) || last.http2 && isReset(e.err) {
			return abi.FailureCut
		}
		return abi.FailureMalformed
	case last.reused && !last.idleSince.IsZero() && last.idleSince.Before(c.failing):
		return abi.FailureStale
	case last.wrote && !repeat.Allowed(ctx): // whatever a look would show now
	case !last.reused && last.address != "" && ready.Closes(ctx, last.address):
		return abi.FailureUnconnected
	}
	return abi.FailureBroke
}

// begun is net/http's error for a status line that ended within its version or its
// code: HTTP has been spoken, and no answer has come.
var begun = regexp.MustCompile(`malformed HTTP (response "(H|HT|HTT|HTTP|HTTP/1?\.?[01]?)"|status code "[0-9]{0,2}")$`)

// isGone says whether a connection was closed or reset, or could not be made.
func isGone(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &op) && !isAlert(err)
}

// isDialling says whether no connection was made.
func isDialling(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect")
}

// isUntrusted says whether a TLS connection was refused.
func isUntrusted(err error) bool {
	return isAlert(err) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
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
