// Package repeat tells those who make an attempt whose it is: a client that sends a
// request a second time by itself may do so for a read only, and not at all where
// somebody further out tries again.
package repeat

import (
	"context"
	"net/http"
)

type key struct{}

type attempt struct{ again, only bool }

// Attempt is the context of an attempt. again says that it may be made a second
// time, whatever it did; only, that somebody gave his word that it sends one request
// once.
func Attempt(ctx context.Context, again, only bool) context.Context {
	return context.WithValue(ctx, key{}, attempt{again, only})
}

// Within says whether a context is of an attempt.
func Within(ctx context.Context) bool { return ctx.Value(key{}) != nil }

// Allowed says whether the attempt may be made again. One of which nothing is known
// may not.
func Allowed(ctx context.Context) bool {
	a, _ := ctx.Value(key{}).(attempt)
	return a.again
}

// Only says whether the attempt is held to send one request once.
func Only(ctx context.Context) bool {
	a, _ := ctx.Value(key{}).(attempt)
	return a.only
}

// Transport is a transport that tries again, but not within an attempt.
type Transport interface{ Within() Base }

// Base is what such a transport sends by there, each request once.
type Base struct{ http.RoundTripper }
