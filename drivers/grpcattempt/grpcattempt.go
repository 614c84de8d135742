// Package grpcattempt makes attempts of functions that call services by gRPC. Tried
// with grpc-go 1.85.0.
package grpcattempt

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"outlast/abi"
	"outlast/drivers/internal/attempt"
	"outlast/httpattempt"
)

// Func is an attempt for host.Task.Attempt, as httpattempt.Func, that also sees the
// calls which f makes with its context by a client that has Handler. A call that is
// UNAVAILABLE and whose header was never sent is unconnected. A read rides that out,
// and a write does where host.Task.OnlyRequest says that f makes one request. The
// status alone tells nothing: a server may hand on what it got of another one. So
// without Handler it is f's own error.
func Func(f func(ctx context.Context) error) httpattempt.Attempt {
	var s *seen
	return attempt.Func(func(ctx context.Context) error {
		s = &seen{}
		return f(context.WithValue(ctx, seenKey{}, s))
	}, func(err error, r *abi.Result) { s.put(err, r) })
}

// Handler sees calls of Func's attempts:
//
//	grpc.NewClient(target, grpc.WithStatsHandler(grpcattempt.Handler()), …)
//
// Without an attempt it does nothing. It is safe for concurrent use.
func Handler() stats.Handler { return handler{} }

type seenKey struct{}

// seen is what was seen of an attempt's calls. One that the client makes again by
// itself counts again.
type seen struct {
	mu    sync.Mutex
	calls []*call
}

type callKey struct{}

type call struct {
	of             *seen
	sent, answered bool
}

func (s *seen) put(err error, r *abi.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.sent {
			r.Sent = abi.SentYes
		}
	}
	if status.Code(err) != codes.Unavailable || len(s.calls) == 0 {
		return
	}
	switch last := s.calls[len(s.calls)-1]; {
	case !last.sent:
		attempt.Fail(r, abi.FailureUnconnected)
	case !last.answered:
		attempt.Fail(r, abi.FailureBroke)
	}
}

type handler struct{}

func (handler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	s, ok := ctx.Value(seenKey{}).(*seen)
	if !ok {
		return ctx
	}
	c := &call{of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return context.WithValue(ctx, callKey{}, c)
}

func (handler) HandleRPC(ctx context.Context, event stats.RPCStats) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	switch event.(type) {
	case *stats.OutHeader:
		c.sent = true
	case *stats.InHeader, *stats.InTrailer:
		c.answered = true
	}
}

func (handler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (handler) HandleConn(context.Context, stats.ConnStats) {}
