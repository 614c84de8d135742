package otel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/telemetry"
)

// Metrics counts calls. Its instruments have Prometheus' names, to which an exporter
// for Prometheus must add no suffix. A nil provider is the program's global one. The
// error is what the provider says of a name or a bucket, and is nil with the SDK.
func Metrics(p metric.MeterProvider) (host.Middleware, error) {
	if p == nil {
		p = otel.GetMeterProvider()
	}
	meter := p.Meter(scope, metric.WithInstrumentationVersion(abi.Release))
	recorders := map[*telemetry.Metric]recorder{}
	for _, m := range telemetry.All {
		r, err := recorderOf(meter, m)
		if err != nil {
			return nil, err
		}
		recorders[m] = r
	}
	return telemetry.Middleware(func(policy string) telemetry.Sink {
		return func(m *telemetry.Metric, value float64, labels ...string) {
			attributes := []attribute.KeyValue{attribute.String("policy", policy)}
			for i, name := range m.Labels {
				attributes = append(attributes, attribute.String(name, labels[i]))
			}
			recorders[m](value, metric.WithAttributes(attributes...))
		}
	}), nil
}

// recorder takes a value of one instrument.
type recorder func(value float64, of metric.MeasurementOption)

func recorderOf(meter metric.Meter, m *telemetry.Metric) (recorder, error) {
	ctx := context.Background()
	switch m.Type {
	case telemetry.Histogram:
		h, err := meter.Float64Histogram(m.Name, metric.WithDescription(m.Help), metric.WithExplicitBucketBoundaries(m.Buckets...))
		return func(v float64, of metric.MeasurementOption) { h.Record(ctx, v, of) }, err
	case telemetry.Gauge:
		g, err := meter.Float64Gauge(m.Name, metric.WithDescription(m.Help))
		return func(v float64, of metric.MeasurementOption) { g.Record(ctx, v, of) }, err
	}
	c, err := meter.Float64Counter(m.Name, metric.WithDescription(m.Help))
	return func(v float64, of metric.MeasurementOption) { c.Add(ctx, v, of) }, err
}
