// Package httpretry is an http.RoundTripper that tries requests again: what a
// program's clients get as their Transport, and no call is wrapped by hand.
//
//	client.Transport = httpretry.New(plugin, http.DefaultTransport, httpretry.Options{})
//
// A GET, HEAD, OPTIONS or TRACE is a read, any other method a write. A read rides
// out a server that is away; so does a write of which nothing was sent, which is
// seen, since each request passes here. A write whose connection broke after that is
// tried again only where Options.HonoursKey or Options.Repeatable say so. Redirects
// are followed by http.Client further out, and each hop is a call of its own.
//
// Where the policy stops on a status, the last answer is given back, to be read.
// Otherwise the error has a *host.CallError in it, and the transport's own error.
// Once an answer's header is there, nothing is tried again.
//
// Options.Off and the function Off switch it off, as for tests. A request of an
// attempt of outlast's further out, such as retry.Do's, is left to that.
package httpretry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/httpattempt"
	"outlast/internal/repeat"
	"outlast/ready"
)

// Transport is an http.RoundTripper. Goroutines may share it.
type Transport struct {
	plugin  *host.Plugin
	base    http.RoundTripper
	watched http.RoundTripper // base
	options Options
	looks   looks
	target  *ready.Target // that Options.Ready names; nil: none
	fault   error         // of Options.Ready
}

// New is a transport that sends by base, which is http.DefaultTransport where it is
// nil. What is wrong with the options is the error of each request.
//
// That nothing was sent is seen only where base is an *http.Transport: see
// Options.OnlyRequest. A base that tries again by itself does so within an attempt.
func New(plugin *host.Plugin, base http.RoundTripper, options Options) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	t := &Transport{plugin: plugin, base: base, watched: httpattempt.Transport(base), options: options, looks: looksThrough(base)}
	t.target, t.fault = named(options.Ready)
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	o := t.options.with(ctx)
	switch {
	case o.Off || request.URL == nil:
		return t.base.RoundTrip(request)
	case repeat.Within(ctx):
		return t.watched.RoundTrip(request)
	}
	target, err := t.target, t.fault
	if o.Ready != t.options.Ready {
		target, err = named(o.Ready)
	}
	if err == nil && o.AttemptTimeout < 0 {
		err = fmt.Errorf("outlast: httpretry: AttemptTimeout: expected 0 for none, or a positive duration, not %v", o.AttemptTimeout)
	}
	if err != nil {
		if request.Body != nil {
			request.Body.Close()
		}
		return nil, err
	}
	trip := httpattempt.RoundTrip(t.watched, request)
	trip.Timeout = o.AttemptTimeout
	_, err = t.plugin.Run(ctx, t.task(trip, request, o, target))
	response := trip.End()
	if err == nil || response != nil && stands(err) {
		return response, nil
	}
	trip.Drop()
	return nil, &failure{err}
}

// task is a request as the host has it.
func (t *Transport) task(trip *httpattempt.Trip, request *http.Request, o *Options, target *ready.Target) *host.Task {
	task := &host.Task{
		Policy: o.Policy, Follow: o.Follow, Call: o.call(request), MaxWait: o.MaxWait, Spread: o.Spread, Attempts: o.Attempts,
		OnlyRequest: o.OnlyRequest, On: o.On, Clock: o.Clock, Secrets: o.Secrets, Attempt: trip.Attempt,
	}
	//lint:ignore SA1019 a request may have it
	if cancel := request.Cancel; cancel != nil {
		task.Clock = cancelling{cmp.Or(o.Clock, host.SystemClock()), cancel}
	}
	task.Ready, task.Unwatched = t.looks.at(request, o.Ready, target)
	task.Observe = func(e host.Event) {
		if _, ok := e.(host.Waiting); ok {
			trip.Drop() // an attempt follows, and its connection may serve others
		}
		if o.Observe != nil {
			o.Observe(e)
		}
	}
	return task
}

// Within is what sends the requests of an attempt further out. It is for package
// httpattempt.
func (t *Transport) Within() repeat.Base { return repeat.Base{RoundTripper: t.watched} }

// CloseIdleConnections is what http.Client's needs.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// stands says whether the last answer is what the call came to: it is not where the
// caller has given up.
func stands(err error) bool {
	var call *host.CallError
	var plugin *host.PluginError
	if errors.As(err, &call) {
		return call.Outcome.Type != abi.OutcomeCancelled
	}
	return errors.As(err, &plugin)
}

// failure is a request's error. It says what http.Client asks of one.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// Timeout says whether a time limit ended the call or its last attempt.
func (f *failure) Timeout() bool {
	var own interface{ Timeout() bool }
	return errors.As(f.error, &own) && own.Timeout()
}

// Off is a context whose requests pass by base alone.
func Off(ctx context.Context) context.Context {
	return With(ctx, func(o *Options) { o.Off = true })
}

type optionsKey struct{}

// With is a context for whose requests the options are changed: change gets a copy of
// the transport's, after what contexts further out changed.
//
//	ctx = httpretry.With(ctx, func(o *httpretry.Options) { o.MaxWait = 5 * time.Second })
func With(ctx context.Context, change func(*Options)) context.Context {
	if outer, ok := ctx.Value(optionsKey{}).(func(*Options)); ok {
		inner := change
		change = func(o *Options) {
			outer(o)
			inner(o)
		}
	}
	return context.WithValue(ctx, optionsKey{}, change)
}

// with are the options for requests with a context.
func (o *Options) with(ctx context.Context) *Options {
	change, ok := ctx.Value(optionsKey{}).(func(*Options))
	if !ok {
		return o
	}
	changed := *o
	change(&changed)
	return &changed
}

// call is what a request is.
func (o *Options) call(request *http.Request) host.Call {
	c := host.Call{Remote: true, Read: reads(request.Method), RefusesBeforeActing: o.RefusesBeforeActing, Budget: o.Budget, Label: label(request, o)}
	if !c.Read {
		c.Repeatable = o.Repeatable != nil && o.Repeatable(request) ||
			o.HonoursKey != nil && request.Header.Get("Idempotency-Key") != "" && o.HonoursKey(request)
	}
	if deadline, ok := request.Context().Deadline(); ok {
		if left := max(time.Until(deadline), time.Microsecond); c.Budget == 0 || left < c.Budget {
			c.Budget = left
		}
	}
	return c
}

func reads(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// label is what messages call a request. Without a word of the caller's it has no
// path, which may hold what is secret.
func label(request *http.Request, o *Options) string {
	text := ""
	if o.Label != nil {
		text = o.Label(request)
	} else {
		text = cmp.Or(request.Method, http.MethodGet) + " " + request.URL.Host
	}
	return text[:min(len(text), abi.MaxLabelBytes)]
}
