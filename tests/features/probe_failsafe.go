package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/cachepolicy"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/fallback"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
)

const (
	failsafeModule   = "github.com/failsafe-go/failsafe-go"
	failsafePackages = failsafeModule + "/..."
)

var failsafeGo = library{
	name: "failsafe-go", module: failsafeModule, call: byFailsafe,
	transport: func() http.RoundTripper {
		return failsafehttp.NewRoundTripper(nil, failsafehttp.NewRetryPolicyBuilder().Build())
	},
	slowly: func(_, _ string, do work) error {
		return byFailsafe(context.Background(), wish{wait: 4 * time.Second}, do)
	},
	typed: `import (
		"github.com/failsafe-go/failsafe-go"
		"github.com/failsafe-go/failsafe-go/retrypolicy"
	)
	func call() (string, error) {
		return failsafe.With(retrypolicy.NewWithDefaults[string]()).Get(func() (string, error) { return "", nil })
	}`,
	own: map[string]func() string{
		"loop":    func() string { return missing(failsafePackages, "Loop") },
		"metrics": func() string { return missing(failsafePackages, "Prometheus", "OpenTelemetry", "Micrometer") },
		"spans":   func() string { return missing(failsafePackages, "Span", "Tracer") },
		"off":     func() string { return missing(failsafePackages, "Disable", "NoRetr", "Testing") },
		"value": func() string {
			policy := retrypolicy.NewBuilder[int]().HandleResult(503).Build()
			answers := []int{503, 200}
			got, _ := failsafe.With(policy).Get(func() (int, error) {
				answer := answers[0]
				answers = answers[1:]
				return answer, nil
			})
			return yes(got == 200)
		},
		"backoff": func() string {
			asked := 0
			policy := retrypolicy.NewBuilder[any]().WithDelayFunc(func(failsafe.ExecutionAttempt[any]) time.Duration {
				asked++
				return ms
			}).Build()
			failsafe.With(policy).Run(func() error { return errAway })
			return yes(asked > 0)
		},
		"random": func() string {
			waits := time.Duration(0)
			policy := retrypolicy.NewBuilder[any]().OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[any]) { waits += e.Delay }).Build()
			failsafe.With(policy).Run(func() error { return errAway })
			if waits == 0 {
				return "no: there are none"
			}
			return "no"
		},
		"breaker": func() string {
			policy := circuitbreaker.NewBuilder[any]().WithFailureThreshold(2).Build()
			times := 0
			for range 5 {
				failsafe.With(policy).Run(func() error { times++; return errAway })
			}
			return yes(times == 2)
		},
		"bulkhead": func() string {
			policy := bulkhead.New[any](1)
			var second error
			failsafe.With(policy).Run(func() error {
				second = failsafe.With(policy).Run(func() error { return nil })
				return nil
			})
			return yes(errors.Is(second, bulkhead.ErrFull))
		},
		"hedge": func() string {
			began := make(chan struct{}, 2)
			failsafe.With(hedgepolicy.NewWithDelay[any](10 * ms)).Run(func() error {
				began <- struct{}{}
				time.Sleep(300 * ms)
				return nil
			})
			return yes(len(began) == 2)
		},
		"fallback": func() string {
			got, _ := failsafe.With(fallback.NewWithResult("yes")).Get(func() (string, error) { return "", errAway })
			return got
		},
		"cache": func() string {
			policy := cachepolicy.NewBuilder[int](cached{}).WithKey("key").Build()
			times := 0
			for range 2 {
				failsafe.With(policy).Get(func() (int, error) { times++; return times, nil })
			}
			return yes(times == 1)
		},
		"shared": func() string {
			shared := budget.NewBuilder().WithMaxRate(0.1).WithMinConcurrency(0).Build()
			policy := retrypolicy.NewBuilder[any]().WithDelay(ms).WithBudget(shared).Build()
			times := 0
			var second error
			failsafe.With(policy).Run(func() error {
				if times++; times == 1 {
					return errAway
				}
				second = failsafe.With(policy).Run(func() error { return errAway }) // beside a retry
				return nil
			})
			return yes(errors.Is(second, budget.ErrExceeded))
		},
	},
}

// cached is a cache for cachepolicy, which brings none.
type cached map[string]int

func (c cached) Get(key string) (int, bool) { value, ok := c[key]; return value, ok }
func (c cached) Set(key string, value int)  { c[key] = value }

func byFailsafe(ctx context.Context, w wish, do work) error {
	policy := retrypolicy.NewBuilder[any]().WithMaxRetries(-1).WithDelay(w.wait)
	if w.limit > 0 {
		policy.WithMaxDuration(w.limit)
	}
	if w.attempts > 0 {
		policy.WithMaxAttempts(w.attempts)
	}
	if w.on != nil {
		policy.HandleIf(func(_ any, err error) bool { return w.on(err) })
	}
	policies := []failsafe.Policy[any]{policy.Build()}
	if w.each > 0 {
		policies = append(policies, timeout.New[any](w.each))
	}
	return failsafe.With(policies...).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error {
		return do(e.Context())
	})
}
