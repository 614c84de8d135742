// Package otel tells OpenTelemetry of calls: a span of each call and of each of its
// attempts, and metrics. Names are those of abi/telemetry.json, as in Python and
// Node. It is a module of its own, so that a program without OpenTelemetry does not
// fetch it.
//
//	metrics, err := otel.Metrics(nil)
//	…
//	plugin, err := host.Open(host.WithMiddleware(otel.Traces(nil), metrics))
package otel

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/progress"
)

// scope names what the spans and metrics come from.
const scope = "outlast"

// Traces begins a span with each call, and one within it for each attempt, in whose
// context the attempt runs, so that the spans of its client are its children. A nil
// provider is the program's global one.
func Traces(p trace.TracerProvider) host.Middleware {
	if p == nil {
		p = otel.GetTracerProvider() // which passes on to one that is set later
	}
	return func(next host.RunFunc) host.RunFunc {
		return func(ctx context.Context, t *host.Task) (*abi.Outcome, error) {
			c := begin(ctx, p.Tracer(scope, trace.WithInstrumentationVersion(abi.Release)), t)
			defer c.close() // also when an attempt panics
			outcome, err := next(c.ctx, c.task())
			c.end(outcome, err)
			return outcome, err
		}
	}
}

// call is a call that is traced.
type call struct {
	ctx      context.Context // with its span
	tracer   trace.Tracer
	of       *host.Task
	span     trace.Span
	attempt  trace.Span // the latest; nil: none was made, or it has ended
	ended    time.Time  // when the latest attempt did
	link     trace.SpanContext
	progress progress.State
	waited   time.Duration // before the latest attempt, in all
	woken    abi.Readiness // which ended the wait before the attempt that follows
	own      error         // the latest attempt's
}

func begin(ctx context.Context, tracer trace.Tracer, t *host.Task) *call {
	c := &call{tracer: tracer, of: t}
	attributes := []attribute.KeyValue{attribute.String("outlast.policy", t.PolicyName())}
	if t.Call.Label != "" {
		attributes = append(attributes, attribute.String("outlast.label", strings.ToValidUTF8(t.Call.Label, "?")))
	}
	c.ctx, c.span = tracer.Start(ctx, "outlast.call", trace.WithAttributes(attributes...))
	return c
}

// task is a copy of the caller's, which is traced.
func (c *call) task() *host.Task {
	traced := *c.of.Observed(c.observe)
	traced.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
		ctx = c.beginAttempt(ctx, n)
		defer func() { c.ended = time.Now() }()
		result, err := c.of.Attempt(ctx, n)
		c.own = err
		return result, err
	}
	return &traced
}

func (c *call) beginAttempt(ctx context.Context, n int64) context.Context {
	c.endAttempt()
	attributes := []attribute.KeyValue{attribute.Int64("outlast.attempt", n)}
	if n > 1 {
		attributes = append(attributes, attribute.Int64("http.request.resend_count", n-1))
	}
	options := []trace.SpanStartOption{trace.WithAttributes(attributes...)}
	if c.link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: c.link}))
	}
	ctx, c.attempt = c.tracer.Start(ctx, "outlast.attempt", options...)
	c.link = c.attempt.SpanContext()
	return ctx
}

// endAttempt ends an attempt's span when what follows on it is known, but with the
// time at which the attempt ended.
func (c *call) endAttempt() {
	if c.attempt != nil {
		c.attempt.End(trace.WithTimestamp(c.ended))
		c.attempt = nil
	}
}

func (c *call) observe(e host.Event) {
	c.progress.Add(e)
	switch e := e.(type) {
	case host.AttemptEnded:
		c.attempted(&e)
	case host.Waiting:
		if !e.Again {
			c.decided(e.Kind, e.Budget, attribute.Float64("outlast.wait", e.Delay.Seconds()))
		}
	case host.Woken:
		c.woken = e.By
	case host.Repairing:
		c.decided(e.Kind, "")
	case host.Stopped:
		if o := &e.Outcome; o.Type != abi.OutcomeOK {
			c.decided(o.Kind, o.Budget)
		}
		c.endAttempt()
	}
}

// attempted tells how the latest attempt ended, and of the wait before it.
func (c *call) attempted(e *host.AttemptEnded) {
	if c.attempt == nil {
		return
	}
	if all := c.progress.Waited(); all > c.waited {
		c.attempt.SetAttributes(attribute.Float64("outlast.waited", (all - c.waited).Seconds()))
		c.waited = all
	}
	if c.woken != "" {
		c.attempt.SetAttributes(attribute.String("outlast.woken", string(c.woken)))
		c.woken = ""
	}
	if e.OK {
		return
	}
	c.attempt.SetStatus(codes.Error, "")
	if s := e.Result.HTTPStatus; s != nil {
		c.attempt.SetAttributes(attribute.Int64("http.response.status_code", *s))
	}
	c.attempt.SetAttributes(attribute.String("error.type", errorType(&e.Result, c.own)))
}

// decided tells what the policy made of the latest attempt, and ends its span.
func (c *call) decided(kind, budget string, more ...attribute.KeyValue) {
	if c.attempt == nil {
		return
	}
	if kind != "" {
		more = append(more, attribute.String("outlast.kind", kind))
	}
	if budget != "" {
		more = append(more, attribute.String("outlast.budget", budget))
	}
	c.attempt.SetAttributes(more...)
	c.endAttempt()
}

// errorType is what OpenTelemetry calls error.type, which has few values: the status,
// else the class of the error, else the contract's word.
func errorType(r *abi.Result, own error) string {
	switch {
	case r.HTTPStatus != nil:
		return strconv.FormatInt(*r.HTTPStatus, 10)
	case own != nil:
		return class(own)
	case r.Failure != "":
		return string(r.Failure)
	case r.TimedOut:
		return "timeout"
	}
	return "_OTHER"
}

// class is the type of the innermost error, since those around it only add words.
func class(err error) string {
	for {
		within, ok := err.(interface{ Unwrap() error })
		if !ok || within.Unwrap() == nil {
			return fmt.Sprintf("%T", err)
		}
		err = within.Unwrap()
	}
}

func (c *call) close() {
	c.endAttempt()
	c.span.End()
}

// end tells what the call came to.
func (c *call) end(o *abi.Outcome, err error) {
	if c.attempt != nil { // it could not be made, or the plugin failed
		c.attempt.SetStatus(codes.Error, "")
	}
	if waited := c.progress.Waited(); waited > 0 {
		c.span.SetAttributes(attribute.Float64("outlast.waited", waited.Seconds()))
	}
	if o == nil {
		c.span.SetStatus(codes.Error, "")
		c.span.SetAttributes(attribute.String("error.type", class(err)), attribute.Int("outlast.attempts", len(c.progress.Attempts)))
		return
	}
	attributes := []attribute.KeyValue{attribute.String("outlast.outcome", string(o.Type)), attribute.Int64("outlast.attempts", o.Attempts)}
	for name, value := range map[string]string{"outlast.kind": o.Kind, "outlast.budget": o.Budget} {
		if value != "" {
			attributes = append(attributes, attribute.String(name, value))
		}
	}
	if o.Type != abi.OutcomeOK {
		c.span.SetStatus(codes.Error, "")
		attributes = append(attributes, attribute.String("error.type", string(o.Type)))
		if !c.of.Call.Read {
			attributes = append(attributes, attribute.String("outlast.effects", string(o.Effects)))
		}
	}
	c.span.SetAttributes(attributes...)
}
