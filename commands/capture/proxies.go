//go:build unix

package main

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// proxied asks through haproxy and nginx, whose server is away or does not
// answer in time.
func proxied(s *stage, command string) {
	lines := map[string]func(url string) map[string][]string{
		"curl": func(url string) map[string][]string {
			return map[string][]string{
				"get":      {"curl", "-fsS", url + "/"},
				"progress": {"curl", "-f", "-o", "out", url + "/"},
				"body":     {"curl", "-sS", "--fail-with-body", url + "/"},
				"post":     {"curl", "-fsS", "-d", "a=1", url + "/"},
			}
		},
		"kubectl": func(url string) map[string][]string {
			return map[string][]string{"get": {"kubectl", "-s", url, "get", "configmaps"}, "version": {"kubectl", "-s", url, "version"}}
		},
		"git": func(url string) map[string][]string {
			return map[string][]string{"ls-remote": {"git", "ls-remote", url + "/r"}, "clone": {"git", "clone", url + "/r", "c"}}
		},
	}[command]
	if lines == nil || !have("haproxy", "nginx") {
		return
	}
	dir := filepath.Join(s.dir, "proxies")
	check(os.MkdirAll(dir, 0o755))
	defer os.RemoveAll(dir)
	defer os.Remove(filepath.Join(s.dir, "out"))
	dead, silent := closed(), s.takesAndWaits()
	for _, p := range []struct {
		name, happened string
		start          func(dir, port, server string) *exec.Cmd
		server         string
		applied        bool
	}{
		{"haproxy-503", "haproxy's server is away", haproxy, dead, false},
		{"haproxy-504", "haproxy's server does not answer", haproxy, silent, true},
		{"nginx-502", "nginx's server is away", nginx, dead, false},
		{"nginx-504", "nginx's server does not answer", nginx, silent, true},
	} {
		port := closed()
		s.start(p.start(dir, port, p.server), port)
		asked := lines("http://127.0.0.1:" + port)
		for _, what := range slices.Sorted(maps.Keys(asked)) {
			s.play(scene{name: command + "-" + p.name + "-" + what, argv: asked[what], happened: p.happened, applied: p.applied, kind: "interrupted"})
		}
	}
}

// takesAndWaits takes requests, and answers none.
func (s *stage) takesAndWaits() string {
	return s.accepts(func(c net.Conn) {
		go func() { time.Sleep(time.Minute); c.Close() }()
	})
}

func haproxy(dir, port, server string) *exec.Cmd {
	config := filepath.Join(dir, "haproxy.cfg")
	check(os.WriteFile(config, fmt.Appendf(nil, `defaults
  mode http
  retries 0
  timeout connect 1s
  timeout client 9s
  timeout server 1s
listen l
  bind 127.0.0.1:%s
  server s 127.0.0.1:%s
`, port, server), 0o644))
	return exec.Command("haproxy", "-db", "-f", config)
}

func nginx(dir, port, server string) *exec.Cmd {
	config := filepath.Join(dir, "nginx.conf")
	check(os.WriteFile(config, fmt.Appendf(nil, `daemon off;
master_process off;
error_log /dev/null;
pid %s/pid;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
  server { listen 127.0.0.1:%s; location / { proxy_pass http://127.0.0.1:%s; proxy_read_timeout 1s; } }
}
`, dir, port, server), 0o644))
	return exec.Command("nginx", "-e", "/dev/null", "-p", dir, "-c", config)
}
