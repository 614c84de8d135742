package engine

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"outlast/abi"
	"outlast/host/internal/kernel"
)

// Host is what a plugin's run calls back. Each method gets the context of the
// call, and must return soon after that is done. An empty answer tells the
// plugin that the host failed, whereupon it stops.
//
// A method that panics looks to the plugin like a host that failed, and so does
// every later one; when the plugin has returned, Call panics with the same
// value. One that ends its goroutine (as testing.T.Fatal does) leaves a
// poisoned instance behind.
type Host interface {
	Now(ctx context.Context) []byte
	Sleep(ctx context.Context, action []byte) []byte
	Attempt(ctx context.Context, action []byte) []byte
}

// running is a call under way.
type running struct {
	ctx      context.Context // as it was given to Call
	host     Host            // nil if the export has no business with one
	memory   *kernel.Memory
	away     time.Duration // in the host's methods
	panicked bool
	value    any // that a method panicked with
}

type runningKey struct{}

// question asks a host for an answer.
type question func(h Host, ctx context.Context, action []byte) []byte

// instantiateHost adds the host functions to a runtime, once for all instances
// there: each call finds its own host in its context.
func instantiateHost(ctx context.Context, r wazero.Runtime) error {
	i64 := []api.ValueType{api.ValueTypeI64}
	b := r.NewHostModuleBuilder(abi.UserModule)
	for name, ask := range map[string]question{
		abi.HostNow:     func(h Host, ctx context.Context, _ []byte) []byte { return h.Now(ctx) },
		abi.HostSleep:   Host.Sleep,
		abi.HostAttempt: Host.Attempt,
	} {
		answer := func(ctx context.Context, stack []uint64) { stack[0] = serve(ctx, stack[0], ask) }
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(answer), i64, i64).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// serve answers a host function: the offset of the input in, the offset of the
// answer out, 0 if there is none.
func serve(ctx context.Context, offset uint64, ask question) (answer uint64) {
	r, _ := ctx.Value(runningKey{}).(*running)
	if r == nil || r.host == nil || r.panicked {
		return 0
	}
	start := time.Now()
	defer func() {
		r.away += time.Since(start)
		if value := recover(); value != nil {
			r.panicked, r.value, answer = true, value, 0
		}
	}()
	return r.memory.Store(ask(r.host, r.ctx, r.memory.Block(offset)))
}
