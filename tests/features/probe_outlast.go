package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpretry"
	"outlast/otel"
	"outlast/prometheus"
	"outlast/ready"
	"outlast/retry"
)

const outlastPackages = "outlast/host outlast/retry outlast/httpattempt outlast/httpretry outlast/abi"

var outlastGo = library{
	name: "outlast", module: "outlast", call: byOutlast,
	transport: func() http.RoundTripper {
		plugin, err := host.Open()
		if err != nil {
			panic(err)
		}
		return httpretry.New(plugin, http.DefaultTransport, httpretry.Options{})
	},
	slowly: slowlyByOutlast, document: documentByOutlast,
	typed: `import (
		"context"
		"outlast/retry"
	)
	func call() (string, error) {
		return retry.Do(context.Background(), nil, nil, func(context.Context) (string, error) { return "", nil })
	}`,
	own: map[string]func() string{
		"loop": func() string {
			plugin, err := host.Open()
			if err != nil {
				return err.Error()
			}
			defer plugin.Close(context.Background())
			times, loop := 0, retry.Attempts(context.Background(), plugin, task(wish{}))
			for turn := range loop.All() {
				if times++; times < 2 {
					turn.End(errAway)
				} else {
					turn.End(nil)
				}
			}
			return yes(loop.Err() == nil && times == 2)
		},
		"value":    func() string { return missing(outlastPackages, "Judge", "HandleResult") },
		"backoff":  func() string { return missing(outlastPackages, "DelayFunc", "BackoffFunc", "WaitFunc") },
		"breaker":  func() string { return missing(outlastPackages, "Breaker") },
		"bulkhead": func() string { return missing(outlastPackages, "Bulkhead", "MaxConcurren") },
		"hedge":    func() string { return missing(outlastPackages, "Hedg") },
		"fallback": func() string { return missing(outlastPackages, "Fallback") },
		"cache":    func() string { return missing(outlastPackages, "CachePolicy") },
		"shared":   func() string { return missing(outlastPackages, "RetryBudget", "Throttl") },
		"random": func() string {
			waits := map[time.Duration]bool{}
			for range 3 {
				clock := &virtual.Clock{}
				t := task(wish{attempts: 2})
				t.Clock = clock
				outlast(context.Background(), t, func(context.Context) error { return errAway })
				waits[clock.Now()] = true
			}
			return yes(len(waits) > 1)
		},
		"metrics": func() string {
			registry := client.NewRegistry()
			metrics, err := prometheus.Metrics(registry)
			if err != nil {
				return err.Error()
			}
			outlast(context.Background(), task(wish{attempts: 2}), func(context.Context) error { return errAway }, host.WithMiddleware(metrics))
			families, err := registry.Gather()
			return yes(err == nil && len(families) > 0)
		},
		"spans": func() string {
			exporter := tracetest.NewInMemoryExporter()
			traces := otel.Traces(trace.NewTracerProvider(trace.WithSyncer(exporter)))
			outlast(context.Background(), task(wish{attempts: 3}), func(context.Context) error { return errAway }, host.WithMiddleware(traces))
			return yes(len(exporter.GetSpans()) >= 3)
		},
		"off": func() string {
			times := 0
			outlast(context.Background(), task(wish{}), func(context.Context) error { times++; return errAway }, host.WithOneAttempt())
			return yes(times == 1)
		},
	},
}

func byOutlast(ctx context.Context, w wish, do work) error { return outlast(ctx, task(w), do) }

func task(w wish) *host.Task {
	on := w.on
	if on == nil {
		on = func(err error) bool { return errors.Is(err, errAway) }
	}
	return &host.Task{
		Call:    host.Call{Remote: true, Read: !w.write},
		MaxWait: w.limit, Attempts: int64(w.attempts), AttemptTimeout: w.each, On: on,
	}
}

func outlast(ctx context.Context, t *host.Task, do work, options ...host.Option) error {
	plugin, err := host.Open(options...)
	if err != nil {
		return err
	}
	defer plugin.Close(context.Background())
	_, err = retry.Do(ctx, plugin, t, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// writeSlow writes the policy network with waits of 4 s, for all languages.
func writeSlow(file string) error {
	network, err := host.BuiltIn("network")
	if err != nil {
		return err
	}
	document := strings.NewReplacer(`"500ms"`, `"4s"`, `"10s"`, `"4s"`).Replace(network.Document())
	return os.WriteFile(file, []byte(document), 0o600)
}

// slowlyByOutlast watches the server while it waits.
func slowlyByOutlast(url, policy string, do work) (err error) {
	t := task(wish{})
	if t.Policy, err = host.ReadPolicy(policy); err != nil {
		return err
	}
	choice, err := ready.Parse(strings.Replace(url, "http:", "tcp:", 1))
	if err != nil {
		return err
	}
	t.Ready = ready.Server(*choice.Target)
	return outlast(context.Background(), t, do)
}

// documentByOutlast is whether the first wait is the policy's.
func documentByOutlast(policy string) string {
	clock, t := &virtual.Clock{}, task(wish{attempts: 2})
	t.Clock = clock
	var err error
	if t.Policy, err = host.ReadPolicy(policy); err != nil {
		return err.Error()
	}
	outlast(context.Background(), t, func(context.Context) error { return errAway })
	return yes(clock.Now() >= 3*time.Second)
}
