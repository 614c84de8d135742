//go:build unix

package omnigraph

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/internal/standin"
)

// A deployment that was submitted is not submitted again when the look after it
// finds nobody, although what is printed says "not sent": of that look.
func TestAnAppliedDeploymentIsNotSubmittedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	life := &standin.Server{Release: standin.Latest}
	life.SetReady()
	var submitted atomic.Int32
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			submitted.Add(1)
			listener.Close()
		}
		life.ServeHTTP(w, r)
	})}
	go server.Serve(listener)
	defer server.Close()

	report := filepath.Join(t.TempDir(), "report")
	stdout, stderr, exit := run(t, environment(t, "0.13"), filepath.Join(built, "outlast"), "run", "--max-wait", "3s", "--report", report, "--",
		"omnigraph", "cluster", "apply", "--server", "http://"+listener.Addr().String())
	text, err := os.ReadFile(report)
	var r struct{ Outcome, Effects string }
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := submitted.Load(); n != 1 || exit == 0 || r.Outcome != "indeterminate" || !strings.Contains(stderr, "never resubmit") {
		t.Errorf("submitted %d times, exit %d, %+v\n%s%s", n, exit, r, stdout, stderr)
	}
}

// A server that the operator's configuration names is found by the command and
// by the tool alike, and a warning about that file hides nothing.
func TestTheOperatorsConfiguration(t *testing.T) {
	s := newStage(t, "0.13")
	env := environment(t, "0.13")
	home := t.TempDir()
	config := "servers:\n  prod:\n    url: " + s.url() + "/\ndefaults:\n  color: red\n"
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "OMNIGRAPH_HOME="+home)
	argv := []string{"mutate", "add", "--params", theWrite, "--server", "prod", "--graph", "people"}
	_, stderr, exit := run(t, env, filepath.Join(built, "omnigraph"), argv...)
	want := "warning: unknown key `defaults.color` (newer CLI feature or typo); ignored in operator config '" + home + "/config.yaml'\nserver discovery connection failed"
	if exit != 1 || !strings.HasPrefix(stderr, want) {
		t.Fatalf("exit %d, %q", exit, stderr)
	}
	began := time.AfterFunc(time.Second, func() { s.start("-loading", "1s") })
	defer began.Stop()
	stdout, stderr, exit := run(t, env, filepath.Join(built, "outlast"), append([]string{"run", "--", "omnigraph"}, argv...)...)
	if ledger, err := s.house.Applied(); err != nil || ledger[theWrite] != 1 || exit != 0 || stdout != "applied\n" {
		t.Errorf("exit %d, %v, %v\n%s%s", exit, ledger, err, stdout, stderr)
	}
}
