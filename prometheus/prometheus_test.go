package prometheus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/prometheus"
)

func open(t *testing.T, r client.Registerer) *host.Plugin {
	t.Helper()
	metrics, err := prometheus.Metrics(r)
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := host.Open(host.WithMiddleware(metrics))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close(context.Background()) })
	return plugin
}

func rideOut(t *testing.T, plugin *host.Plugin) {
	t.Helper()
	clock, ok := &virtual.Clock{}, int64(200)
	_, err := plugin.Run(context.Background(), &host.Task{
		Call: host.Call{Remote: true, Read: true}, Clock: clock,
		Attempt: func(context.Context, int64) (abi.Result, error) {
			if clock.Now() < time.Minute {
				return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo}, errors.New("connection refused")
			}
			return abi.Result{HTTPStatus: &ok}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two plugins count in one registry, whose text Prometheus' own linter likes.
func TestMetricsOfCalls(t *testing.T) {
	registry := client.NewPedanticRegistry()
	rideOut(t, open(t, registry))
	rideOut(t, open(t, registry))
	want := `
# HELP outlast_calls_total Calls that ended, by how and by the kind of their last failure.
# TYPE outlast_calls_total counter
outlast_calls_total{kind="unavailable",outcome="ok",policy="network"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "outlast_calls_total"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	n, err := testutil.GatherAndCount(registry, "outlast_budget_used_ratio", "outlast_retried_call_seconds", "outlast_wait_seconds_total")
	if err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
}

// Another metric of a name is no reason to count nothing without a word.
func TestANameThatIsTaken(t *testing.T) {
	registry := client.NewRegistry()
	registry.MustRegister(client.NewGauge(client.GaugeOpts{Name: "outlast_calls_total", Help: "another's"}))
	if _, err := prometheus.Metrics(registry); err == nil {
		t.Error("it was taken twice")
	}
}
