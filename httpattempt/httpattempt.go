// Package httpattempt makes attempts of HTTP requests for host.Task, and says of
// each what was seen: whether a connection stood, whether anything was sent, what
// the server answered. The policy network goes by that.
//
//	outcome, err := plugin.Run(ctx, &host.Task{
//		Call:    host.Call{Label: "orders", Remote: true},
//		Attempt: httpattempt.Do(http.DefaultClient, request, read),
//	})
//
// Do makes the request itself. So it can say that nothing was sent, and a write
// rides out a server that is away. Func is for a function that makes requests with
// clients of its own: a read rides out the same, a write only where
// host.Task.OnlyRequest says that the attempt makes one request and no other.
package httpattempt

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"outlast/abi"
	"outlast/internal/repeat"
)

// Attempt is what host.Task.Attempt is. It belongs to one task.
type Attempt = func(ctx context.Context, n int64) (abi.Result, error)

// Do is an attempt that makes the request with the client, and redirects as the
// client follows them. read gets each answer whose status is 2xx, and need not
// close its body; an error of it fails the attempt. Any other status is a
// *StatusError. nil is http.DefaultClient, and a read that looks at nothing.
//
// The request's own context bounds the call too. The task's context cannot end a
// Read of the request's body, for which net/http waits.
//
// That nothing was sent is seen only where the client's Transport is nil, an
// *http.Transport, or a Transport or an httpretry.Transport of one: another may send
// more than it is given. It is said of what Do does, and of nothing else: of an attempt
// that does more beside calling Do's, and of a Transport whose DialContext, Proxy or
// other function has effects, the caller must not say it.
//
// A write is not sent again by net/http itself. One without a body may get an empty
// one for that.
func Do(client *http.Client, request *http.Request, read func(*http.Response) error) Attempt {
	if client == nil {
		client = http.DefaultClient
	}
	d := &doing{client: *client, request: request, read: read}
	if again, ok := client.Transport.(repeat.Transport); ok {
		d.client.Transport = again.Within().RoundTripper
	}
	d.client.Transport = Transport(d.client.Transport)
	return d.attempt
}

// doing is a task's one request.
type doing struct {
	client  http.Client
	request *http.Request
	read    func(*http.Response) error
	call    call
	last    abi.Result // of the task's last attempt
	err     error
}

func (d *doing) attempt(ctx context.Context, n int64) (abi.Result, error) {
	if n == 1 {
		d.call, d.last, d.err = call{}, abi.Result{}, nil
	}
	request, err := again(d.request)
	if err != nil {
		return unmade(d.last, d.err, err)
	}
	a := d.call.begin()
	ctx, cancel := both(ctx, request.Context())
	defer cancel()
	err = d.make(request.WithContext(a.in(ctx)))
	d.last, d.err = a.end(ctx, err, true)
	if err != nil && hasBody(d.request) && d.request.GetBody == nil {
		return unmade(d.last, d.err, ErrSpent)
	}
	return d.last, d.err
}

// unmade is the result where no further attempt can be made, for which why is the
// reason; last and its error are of the attempt before, if there was one.
func unmade(last abi.Result, err, why error) (abi.Result, error) {
	if err == nil {
		return abi.Result{Message: abi.Clip(oneLine(why.Error())), Sent: abi.SentNo}, why
	}
	last.Streamed = true // as if its output had been passed on: it must not run again
	return last, fmt.Errorf("%w; %w", err, why)
}

// both is a context that is done when one of two is.
func both(ctx, own context.Context) (context.Context, func()) {
	merged, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(own, func() { cancel(context.Cause(own)) })
	if own.Err() != nil { // not only soon
		cancel(context.Cause(own))
	}
	return merged, func() {
		stop()
		cancel(nil)
	}
}

func (d *doing) make(request *http.Request) error {
	response, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer finish(response)
	if err := Check(response); err != nil || d.read == nil {
		return err
	}
	return d.read(response)
}

// drained is how much of an answer that nobody reads is read all the same, so that
// its connection can serve again (a choice, net/http's own).
const drained = 256 << 10

func finish(response *http.Response) {
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return // its body is the connection, which a context does not end
	}
	_, _ = io.CopyN(io.Discard, response.Body, drained) // its error is noted, as any of the body's
}

// Func is an attempt that calls f with a context. Requests that have this context
// and pass a Transport are seen. The attempt's failure is that of the request whose
// error f returns; else what the error itself tells, such as a refused connection of
// a client that nobody watches; else that of the request that failed last. Since f
// may do more than is seen, Func never says that nothing was sent.
func Func(f func(ctx context.Context) error) Attempt {
	c := &call{}
	return func(ctx context.Context, _ int64) (abi.Result, error) {
		a := c.begin()
		return a.end(ctx, f(a.in(ctx)), false)
	}
}

// call is what a task's attempts share.
type call struct {
	failing time.Time // when the first attempt that failed began; zero: none has
}

func (c *call) begin() *attempt { return &attempt{call: c, began: time.Now()} }
