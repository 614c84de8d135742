package prometheus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// expressions are those of the dashboard, by their panel and place, for all policies
// and commands.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../telemetry/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	fill := strings.NewReplacer("$policy", ".*", "$command", ".*", "$__rate_interval", "1m", "$__range", "1m")
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all[p.Title+" "+target.RefID] = fill.Replace(target.Expr)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d expressions", len(all))
	}
	return all
}

// Dashboard and alerts ask for nothing but what abi/telemetry.json names.
func TestWhatIsAskedForIsCounted(t *testing.T) {
	contract, err := os.ReadFile("../../abi/telemetry.json")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\boutlast_[a-z_]+?(_bucket|_count|_sum)?\b`)
	for _, file := range []string{"dashboard.json", "alerts.yaml"} {
		text, err := os.ReadFile("../../telemetry/" + file)
		if err != nil {
			t.Fatal(err)
		}
		asked := name.FindAllStringSubmatch(string(text), -1)
		if len(asked) == 0 {
			t.Errorf("%s asks for nothing", file)
		}
		for _, m := range asked {
			if !strings.Contains(string(contract), `"`+strings.TrimSuffix(m[0], m[1])+`"`) {
				t.Errorf("%s asks for %s", file, m[0])
			}
		}
	}
}

// Prometheus itself, which scrapes the file that real calls are counted in, has an
// answer for each expression of the dashboard.
func TestDashboard(t *testing.T) {
	prometheus, outlast, dir := program(t, "prometheus"), tool(t), t.TempDir()
	counted := filepath.Join(dir, "calls.prom")
	calls := func() {
		run(t, 0, outlast, counted, "--read", "--attempts", "3", "--backoff", "10ms", "--", "true")
		run(t, 1, outlast, counted, "--repeatable", "--attempts", "2", "--backoff", "10ms", "--", "false") // in doubt
		wokenInVain(t, outlast, counted, dir)
	}
	calls()
	var scrapes atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := os.ReadFile(counted)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(text)
		scrapes.Add(1)
	}))
	defer target.Close()
	api := serve(t, prometheus, dir, strings.TrimPrefix(target.URL, "http://"))
	await(t, "a scrape", func() bool { return scrapes.Load() > 1 })
	calls()
	text, err := os.ReadFile(counted)
	if want := `outlast_vain_wakes_total{policy="wakes",command="sh"} 2`; err != nil || !bytes.Contains(text, []byte(want)) {
		t.Errorf("%v: %s is not in\n%s", err, want, text)
	}
	seen := scrapes.Load()
	await(t, "scrapes of what came since", func() bool { return scrapes.Load() > seen+2 })
	for panel, expression := range expressions(t) {
		values, err := query(api, expression)
		if err != nil || len(values) == 0 {
			t.Errorf("%s: %v, %v: %s", panel, values, err, expression)
		}
		for _, v := range values {
			if v == "NaN" || strings.HasSuffix(v, "Inf") || strings.HasPrefix(v, "-") {
				t.Errorf("%s: %s: %s", panel, v, expression)
			}
		}
	}
}

func run(t *testing.T, code int, outlast, counted string, args ...string) {
	t.Helper()
	c := exec.Command(outlast, append([]string{"run", "-q", "--metrics-file", counted}, args...)...)
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != code {
		t.Fatalf("%q: %v\n%s", args, c.ProcessState, out)
	}
}

const wakes = `{"version": 1, "name": "wakes",
	"budgets": {"away": {"max_wait": "30s", "backoff": {"type": "exponential", "base": "1s", "multiplier": 2, "cap": "10s"},
		"wake": {"reads": "accepting", "writes": "ready", "spread": "10ms", "hold_off": "100ms", "max_vain": 3}}},
	"rules": [{"kind": "away", "when": [{"exit_codes": [7]}], "then": [{"retry": "away"}]},
		{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]}`

// wokenInVain is a call whose server is back before it can be used.
func wokenInVain(t *testing.T, outlast, counted, dir string) {
	t.Helper()
	policy, tries := filepath.Join(dir, "wakes.json"), filepath.Join(dir, "tries")
	if err := os.WriteFile(policy, []byte(wakes), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(tries)
	address := freeAddress(t)
	back := time.AfterFunc(300*time.Millisecond, func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		server := &http.Server{Handler: http.NotFoundHandler()}
		t.Cleanup(func() { _ = server.Close() })
		_ = server.Serve(l)
	})
	defer back.Stop()
	script := fmt.Sprintf(`echo >> %s; test $(wc -l < %s) -gt 2 || exit 7`, tries, tries)
	run(t, 0, outlast, counted, "--policy", policy, "--read", "--ready", "http://"+address, "--", "sh", "-c", script)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serve starts Prometheus, which asks the target every half second.
func serve(t *testing.T, prometheus, dir, target string) (api string) {
	t.Helper()
	config := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf("scrape_configs: [{job_name: outlast, scrape_interval: 500ms, scrape_timeout: 400ms, metrics_path: /, static_configs: [{targets: ['%s']}]}]\n", target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	c := exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	api = "http://" + address
	await(t, "Prometheus", func() bool {
		response, err := http.Get(api + "/-/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return api
}

func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s has not come", what)
		}
	}
}

// query is what Prometheus makes of an expression now.
func query(api, expression string) (values []string, err error) {
	response, err := http.Get(api + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	for _, r := range answer.Data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values, nil
}
