package otel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"outlast/host"
	"outlast/otel"
)

// The SDK has the metrics of a call under Prometheus' names, with the labels and the
// buckets that every host has.
func TestMetricsOfACall(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	metrics, err := otel.Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := host.Open(host.WithMiddleware(metrics))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	defer plugin.Close(ctx)
	if _, err := plugin.Run(ctx, riddenOut()); err != nil {
		t.Fatal(err)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		t.Fatal(err)
	}
	sums, histograms := map[string]metricdata.Sum[float64]{}, map[string]metricdata.Histogram[float64]{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[float64]:
			sums[m.Name] = data
		case metricdata.Histogram[float64]:
			histograms[m.Name] = data
		}
	}
	calls := sums["outlast_calls_total"].DataPoints
	want := attribute.NewSet(attribute.String("policy", "network"), attribute.String("outcome", "ok"), attribute.String("kind", "busy"))
	if len(calls) != 1 || calls[0].Value != 1 || !calls[0].Attributes.Equals(&want) {
		t.Errorf("%+v", calls)
	}
	retries := 0.0
	for _, p := range sums["outlast_retries_total"].DataPoints {
		retries += p.Value
	}
	if retries != 3 {
		t.Errorf("%v retries", retries)
	}
	used := histograms["outlast_budget_used_ratio"].DataPoints
	if len(used) != 1 || len(used[0].Bounds) != 6 || used[0].Count != 1 || used[0].Sum <= 0 || used[0].Sum > 0.1 {
		t.Errorf("%+v", used)
	}
}
