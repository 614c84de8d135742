package otel_test

import (
	"context"
	"log/slog"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"outlast/abi"
	"outlast/host"
	"outlast/logs"
	"outlast/otel"
)

// BenchmarkCall is a call that succeeds at once, with what tells of it.
func BenchmarkCall(b *testing.B) {
	metrics, err := otel.Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		tells []host.Middleware
	}{
		{"nothing", nil},
		{"logs", []host.Middleware{logs.To(slog.New(slog.DiscardHandler))}},
		{"metrics", []host.Middleware{metrics}},
		{"traces, not sampled", []host.Middleware{otel.Traces(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))}},
		{"traces", []host.Middleware{otel.Traces(sdktrace.NewTracerProvider())}},
	} {
		b.Run(c.name, func(b *testing.B) {
			plugin, err := host.Open(host.WithMiddleware(c.tells...))
			if err != nil {
				b.Fatal(err)
			}
			defer plugin.Close(context.Background())
			ok := int64(200)
			task := &host.Task{Attempt: func(context.Context, int64) (abi.Result, error) { return abi.Result{HTTPStatus: &ok}, nil }}
			for b.Loop() {
				if _, err := plugin.Run(context.Background(), task); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
