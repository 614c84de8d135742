//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// payments is a server that applies writes and loses the first answers. It
// honours keys, or not, and answers a DELETE of what is gone with 404.
type payments struct {
	honours bool
	lose    int // so many answers

	mu      sync.Mutex
	applied int
	keys    []string
	seen    map[string]bool
}

func (p *payments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	p.keys = append(p.keys, key)
	known := p.honours && p.seen[key]
	status := http.StatusOK
	switch {
	case known:
	case r.Method == http.MethodDelete && p.applied > 0:
		status = http.StatusNotFound
	default:
		p.applied++
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	if len(p.keys) <= p.lose {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
		return
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, "paid")
}

func TestIdempotencyKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("real servers that die")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	tool := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	t.Setenv("HOME", t.TempDir())
	retry := []string{"--retry-exit", "7,52,56", "--attempts", "4", "--backoff", "0.1s"}
	key := append([]string{"--idempotency-key", "--idempotency-honoured", "24h"}, retry...)
	header := []string{"-H", "Idempotency-Key: {idempotency-key}"}
	for name, c := range map[string]struct {
		server   *payments
		flags    []string
		method   string
		code     int
		applied  int
		requests int
		report   string
	}{
		"honoured":                                {&payments{honours: true, lose: 2}, key, "POST", 0, 1, 3, `"outcome": "ok"`},
		"nobody says so":                          {&payments{honours: true, lose: 1}, key[:1], "POST", 76, 1, 1, `"outcome": "indeterminate"`},
		"a claim that is false":                   {&payments{lose: 1}, key, "POST", 0, 2, 2, `"outcome": "ok"`}, // the caller's word, and so the caller's fault
		"a DELETE that is gone":                   {&payments{lose: 1}, key, "DELETE", 76, 1, 2, `"outcome": "indeterminate"`},
		"honoured, by curl's own policy":          {&payments{honours: true, lose: 2}, key[:3], "POST", 0, 1, 3, `"outcome": "ok"`},
		"honoured, by curl's own policy, a third": {&payments{honours: true, lose: 3}, key[:3], "POST", 76, 1, 3, `"outcome": "indeterminate"`},
		"a DELETE, by curl's own policy":          {&payments{lose: 1}, key[:3], "DELETE", 76, 1, 2, `"outcome": "indeterminate"`},
		"nobody says so, by curl's own policy":    {&payments{honours: true, lose: 1}, key[:1], "POST", 76, 1, 1, `"outcome": "indeterminate"`},
		"given":                                   {&payments{honours: true, lose: 1}, append([]string{"--idempotency-key=pay-7"}, key[1:]...), "POST", 0, 1, 2, `"outcome": "ok"`},
	} {
		server := httptest.NewServer(c.server)
		report := filepath.Join(t.TempDir(), "report")
		args := append([]string{"run", "--report", report, "--indeterminate-code", "76"}, c.flags...)
		args = append(append(args, "--", "curl", "-fsS", "-X", c.method, "-d", "x"), append(header, server.URL)...)
		cmd := exec.Command(tool, args...)
		out, _ := cmd.CombinedOutput()
		server.Close()
		text, _ := os.ReadFile(report)
		p := c.server
		if cmd.ProcessState.ExitCode() != c.code || p.applied != c.applied || len(p.keys) != c.requests || !strings.Contains(string(text), c.report) {
			t.Errorf("%s: exit code %d, applied %d times in %d requests, %s\n%s", name, cmd.ProcessState.ExitCode(), p.applied, len(p.keys), text, out)
		}
		for _, k := range p.keys {
			if k != p.keys[0] || len(k) < 5 || strings.ContainsAny(k, "{}") || name == "given" && k != "pay-7" {
				t.Errorf("%s: the keys are %q", name, p.keys)
			}
		}
	}
}

// A killed call's rerun, by the same journal key, sends the same idempotency
// key, and may do so in doubt; where nobody says that it is honoured, not.
func TestTheJournalKeepsTheIdempotencyKey(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	if _, err := os.Stat("/proc/sys/kernel/random/boot_id"); err != nil {
		t.Skip("only Linux has a clock that nobody can set")
	}
	tool := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	t.Setenv("HOME", t.TempDir())
	for _, honoured := range []bool{true, false} {
		p := &payments{honours: true, lose: 1000}
		server := httptest.NewServer(p)
		args := []string{"run", "--journal", filepath.Join(t.TempDir(), "j"), "--journal-key", "pay", "--indeterminate-code", "76", "--idempotency-key"}
		if honoured {
			args = append(args, "--idempotency-honoured", "24h", "--retry-exit", "7,52,56", "--attempts", "2", "--backoff", "0.1s")
		}
		args = append(args, "--", "curl", "-fsSd", "x", "-H", "Idempotency-Key: {idempotency-key}", server.URL)
		run := func() int {
			cmd := exec.Command(tool, args...)
			cmd.Run()
			return cmd.ProcessState.ExitCode()
		}
		if code := run(); code != 76 {
			t.Errorf("the first: exit code %d", code)
		}
		before := len(p.keys)
		p.mu.Lock()
		p.lose = 0
		p.mu.Unlock()
		code := run()
		server.Close()
		want := 76
		if honoured {
			want = 0
		}
		if code != want || p.applied != 1 || honoured != (len(p.keys) > before) {
			t.Errorf("honoured %t: exit code %d, applied %d times, keys %q", honoured, code, p.applied, p.keys)
		}
		for _, k := range p.keys {
			if k != p.keys[0] {
				t.Errorf("honoured %t: %q", honoured, p.keys)
			}
		}
	}
}

// Whoever decides what is run again, and whatever the call is: the mark itself,
// which would be the same key for every call, never reaches a command.
func TestTheMarkNeverReachesTheCommand(t *testing.T) {
	tool := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	for name, c := range map[string]struct{ env, claim string }{
		"a write":          {"A=b", "--repeatable"},
		"a read":           {"A=b", "--read"},
		"inside another":   {"OUTLAST_ATTEMPT=1", "--repeatable"},
		"a read inside":    {"OUTLAST_ATTEMPT=2", "--read"},
		"off":              {"OUTLAST_OFF=1", "--repeatable"},
		"inside, recorded": {"OUTLAST_ATTEMPT=1", "--report=" + filepath.Join(t.TempDir(), "r")},
	} {
		seen := map[string]bool{}
		for range 2 {
			args := []string{"run", "--idempotency-key", c.claim, "--repeatable", "--attempts", "1", "--", "sh", "-c", "echo {idempotency-key} $OUTLAST_IDEMPOTENCY_KEY"}
			if c.claim == "--read" || c.claim == "--repeatable" {
				args = append(args[:3:3], args[4:]...)
			}
			cmd := exec.Command(tool, args...)
			cmd.Env = append(os.Environ(), c.env)
			out, err := cmd.Output()
			words := strings.Fields(string(out))
			if err != nil || len(words) != 2 || words[0] != words[1] || strings.Contains(words[0], "{") || seen[words[0]] {
				t.Errorf("%s: %q, %v", name, out, err)
			}
			seen[string(out)] = true
		}
	}
}
