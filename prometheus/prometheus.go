// Package prometheus counts calls for Prometheus, under the names of
// abi/telemetry.json, as the tool, Python and Node do. It is a module of its own, so
// that a program without Prometheus does not fetch its client.
//
//	metrics, err := prometheus.Metrics(nil)
//	…
//	plugin, err := host.Open(host.WithMiddleware(metrics))
package prometheus

import (
	"errors"

	client "github.com/prometheus/client_golang/prometheus"

	"outlast/host"
	"outlast/internal/telemetry"
)

// Metrics counts in a registry; nil: client_golang's default one. Plugins may share a
// registry. The error says that it has other metrics of these names.
func Metrics(r client.Registerer) (host.Middleware, error) {
	if r == nil {
		r = client.DefaultRegisterer
	}
	take := map[*telemetry.Metric]func(value float64, labels ...string){}
	for _, m := range telemetry.All {
		var err error
		if take[m], err = register(r, m); err != nil {
			return nil, err
		}
	}
	return telemetry.Middleware(func(policy string) telemetry.Sink {
		return func(m *telemetry.Metric, value float64, labels ...string) {
			take[m](value, append([]string{policy}, labels...)...)
		}
	}), nil
}

// register gives what takes the values of one metric.
func register(r client.Registerer, m *telemetry.Metric) (func(float64, ...string), error) {
	labels := append([]string{"policy"}, m.Labels...)
	switch m.Type {
	case telemetry.Histogram:
		h, err := once(r, client.NewHistogramVec(client.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}, labels))
		return func(v float64, of ...string) { h.WithLabelValues(of...).Observe(v) }, err
	case telemetry.Gauge:
		g, err := once(r, client.NewGaugeVec(client.GaugeOpts{Name: m.Name, Help: m.Help}, labels))
		return func(v float64, of ...string) { g.WithLabelValues(of...).Set(v) }, err
	}
	c, err := once(r, client.NewCounterVec(client.CounterOpts{Name: m.Name, Help: m.Help}, labels))
	return func(v float64, of ...string) { c.WithLabelValues(of...).Add(v) }, err
}

// once registers a collector, or gives the one that is there already.
func once[C client.Collector](r client.Registerer, c C) (C, error) {
	err := r.Register(c)
	if there := (client.AlreadyRegisteredError{}); errors.As(err, &there) {
		if same, ok := there.ExistingCollector.(C); ok {
			return same, nil
		}
	}
	return c, err
}
