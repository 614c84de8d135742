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
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"outlast/abi"
)

// Attempt is what host.Task.Attempt is. It belongs to one task.
type Attempt = func(ctx context.Context, n int64) (abi.Result, error)

// ErrSpent says that a request's body cannot be read again, and so that the
// request is not tried again: it has no GetBody, which http.NewRequest gives to
// bytes.Buffer, bytes.Reader and strings.Reader.
var ErrSpent = errors.New("the request is not tried again, since it has a body and no GetBody")

// Do is an attempt that makes the request with the client, and redirects as the
// client follows them. read gets each answer whose status is 2xx, and need not
// close its body; an error of it fails the attempt. Any other status is a
// *StatusError. nil is http.DefaultClient, and a read that looks at nothing.
//
// That nothing was sent is seen only where the client's Transport is nil, an
// *http.Transport, or a Transport of one: another may send more than it is given.
func Do(client *http.Client, request *http.Request, read func(*http.Response) error) Attempt {
	if client == nil {
		client = http.DefaultClient
	}
	d := &doing{client: *client, request: request, read: read}
	d.client.Transport = Transport(client.Transport)
	return d.attempt
}

// doing is a task's one request.
type doing struct {
	client  http.Client
	request *http.Request
	read    func(*http.Response) error
	call    call
	made    bool // an attempt was
}

func (d *doing) attempt(ctx context.Context, _ int64) (abi.Result, error) {
	request, err := d.again()
	if err != nil {
		return abi.Result{}, err
	}
	a := d.call.begin()
	err = d.make(request.WithContext(a.in(ctx)))
	result, err := a.end(ctx, err, true)
	if err != nil && !d.replayable() {
		result.Streamed = true // as if its output had been passed on: it must not run again
		err = fmt.Errorf("%w; %w", err, ErrSpent)
	}
	return result, err
}

// again is the request with its body from the start.
func (d *doing) again() (*http.Request, error) {
	first := !d.made
	d.made = true
	switch {
	case first || d.request.Body == nil || d.request.Body == http.NoBody:
		return d.request, nil
	case !d.replayable():
		return nil, ErrSpent
	}
	body, err := d.request.GetBody()
	if err != nil {
		return nil, fmt.Errorf("httpattempt: GetBody: %w", err)
	}
	request := *d.request
	request.Body = body
	return &request, nil
}

func (d *doing) replayable() bool {
	return d.request.Body == nil || d.request.Body == http.NoBody || d.request.GetBody != nil
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
	_, _ = io.CopyN(io.Discard, response.Body, drained) // its error is noted, as any of the body's
	_ = response.Body.Close()
}

// Func is an attempt that calls f with a context. Requests that have this context
// and pass a Transport are seen; the last one whose error f returns, or wraps,
// gives the attempt its failure. Since f may do more than is seen, Func never says
// that nothing was sent.
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
