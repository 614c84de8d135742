package kernel

import "context"

// memoryContext carries a call's memory. It is a type of its own, not a value
// in a chain, because a guest reads its input 8 bytes a call.
type memoryContext struct {
	context.Context
	memory *Memory
}

type memoryKey struct{}

func (c *memoryContext) Value(key any) any {
	if key == (memoryKey{}) {
		return c.memory
	}
	return c.Context.Value(key)
}

// With gives a context whose calls use m. Put it outermost: the functions find
// it faster there.
func With(ctx context.Context, m *Memory) context.Context {
	return &memoryContext{Context: ctx, memory: m}
}

// From is the memory of a call's context. Without one it is an empty memory
// that forgets what it is given.
func From(ctx context.Context) *Memory {
	if c, ok := ctx.(*memoryContext); ok {
		return c.memory
	}
	if m, ok := ctx.Value(memoryKey{}).(*Memory); ok {
		return m
	}
	return &Memory{}
}
