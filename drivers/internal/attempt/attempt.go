// Package attempt makes attempts of functions whose errors a client's own package
// knows.
package attempt

import (
	"context"

	"outlast/abi"
	"outlast/httpattempt"
)

// Func is httpattempt.Func(f), in whose results see puts what f's error means to the
// client. Of an attempt whose context is done it means nothing.
func Func(f func(context.Context) error, see func(error, *abi.Result)) httpattempt.Attempt {
	var own error
	inner := httpattempt.Func(func(ctx context.Context) error {
		own = f(ctx)
		return own
	})
	return func(ctx context.Context, n int64) (abi.Result, error) {
		r, err := inner(ctx, n)
		if own != nil && ctx.Err() == nil {
			see(own, &r)
		}
		return r, err
	}
}

// Fail says in a result that a request failed so.
func Fail(r *abi.Result, failure abi.Failure) {
	r.Failure, r.TimedOut = failure, false
}
