// Package repeat tells those who make an attempt whether it may be made again: a
// client that sends a request a second time by itself may do so for a read only.
package repeat

import "context"

type key struct{}

// Allow is the context of an attempt that may be made again, whatever it did.
func Allow(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// Allowed says whether it may. An attempt of which nothing is known may not.
func Allowed(ctx context.Context) bool { return ctx.Value(key{}) != nil }
