// Package prometheus reads what outlast run --metrics-file writes with Prometheus'
// own library. It is a module of its own because of what that brings.
package prometheus

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// tool is outlast, built from this tree.
func tool(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outlast")
	build := exec.Command("go", "build", "-o", path, "./cmd/outlast")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// families are what Prometheus' own parser makes of a file, which its linter must
// like too.
func families(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return all
}

// Commands with odd names, one of which fails twice and waits, count as Prometheus
// reads it.
func TestPrometheusReadsIt(t *testing.T) {
	outlast, dir := tool(t), t.TempDir()
	names := []string{`a"b\c`, "new\nline", "Zürich", "} 1", `\`, "x{y", "#", "back\\"}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\nexit $CODE\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{"0", "3"} {
			run := exec.Command(outlast, "run", "--metrics-file", filepath.Join(dir, "x.prom"), "--read", "--attempts", "2", "--backoff", "10ms", "--", path)
			run.Env = append(os.Environ(), "CODE="+code)
			if out, err := run.CombinedOutput(); (err == nil) != (code == "0") {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "x.prom"))
	if err != nil {
		t.Fatal(err)
	}
	all := families(t, text)
	for name, want := range map[string]struct{ sum, series float64 }{
		"outlast_calls_total": {2 * 8, 2 * 8}, "outlast_attempts_total": {3 * 8, 2 * 8}, "outlast_retries_total": {8, 8}, "outlast_vain_wakes_total": {0, 8},
	} {
		sum := 0.0
		for _, m := range all[name].GetMetric() {
			sum += m.GetCounter().GetValue()
		}
		if n := float64(len(all[name].GetMetric())); sum != want.sum || n != want.series {
			t.Errorf("%s is %v in %v series, and not %v:\n%s", name, sum, n, want, text)
		}
	}
	waited := 0.0
	for _, m := range all["outlast_wait_seconds_total"].GetMetric() {
		waited += m.GetCounter().GetValue()
	}
	if waited < 8*0.01 || waited > 60 {
		t.Errorf("waited %v s", waited)
	}
	for _, name := range []string{"outlast_outage_seconds", "outlast_retried_call_seconds", "outlast_budget_used_ratio"} {
		if n := len(all[name].GetMetric()); n != len(names) {
			t.Errorf("%s: %d histograms", name, n)
		}
	}
}

// So is what policy pull keeps of a policy that is followed.
func TestPrometheusReadsWhatIsFollowed(t *testing.T) {
	outlast, dir := tool(t), t.TempDir()
	seal := exec.Command(outlast, "policy", "seal", "../../commands/psql/policy.json", "--serial", "7", "--expires", "1h")
	envelope, err := seal.Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(envelope) }))
	defer server.Close()
	path := filepath.Join(dir, "x.prom")
	pull := exec.Command(outlast, "policy", "pull", fmt.Sprintf("%s/x@sha256:%x", server.URL, sha256.Sum256(envelope)), filepath.Join(dir, "policies"), "--metrics-file", path)
	if out, err := pull.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := families(t, text)
	for _, name := range []string{"serial", "since_timestamp_seconds", "expires_timestamp_seconds", "looked_timestamp_seconds", "refused_total", "unreached_total"} {
		if n := len(all["outlast_policy_"+name].GetMetric()); n != 1 {
			t.Errorf("%s: %d series", name, n)
		}
	}
	if n := all["outlast_policy_serial"].GetMetric()[0].GetGauge().GetValue(); n != 7 {
		t.Errorf("serial %v:\n%s", n, text)
	}
}
