//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func redis(s *stage) {
	port := closed()
	on := func(port string, more ...string) []string { return append([]string{"redis-cli", "-p", port}, more...) }
	// It takes the command and dies before it answers.
	takes := func() string { return diesAfter(func(c net.Conn, r *bufio.Reader) { takeCommand(r) }) }
	for _, c := range []scene{
		{name: "redis-refused", argv: on(port, "SET", "a", "b"), happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "redis-get-refused", argv: on(port, "GET", "a"), happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "redis-unresolved", argv: []string{"redis-cli", "-h", unresolvable, "SET", "a", "b"}, happened: "the name does not resolve", sure: true, kind: "unresolved"},
		{name: "redis-socket", argv: []string{"redis-cli", "-s", filepath.Join(s.dir, "none"), "SET", "a", "b"}, happened: "the socket does not exist", sure: true, kind: "unavailable"},
		{name: "redis-password-refused", argv: on(port, "-a", "secret", "SET", "a", "b"), happened: "nobody listens; a warning hides it", kind: "failed"},
		{name: "redis-password-no-warning-refused", argv: on(port, "--no-auth-warning", "-a", "secret", "SET", "a", "b"), happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "redis-exit-code-refused", argv: on(port, "-e", "SET", "a", "b"), happened: "nobody listens; with -e a server could say the same", kind: "unavailable"},
		{name: "redis-repeat-refused", argv: on(port, "-r", "3", "SET", "a", "b"), happened: "nobody listens", kind: "unavailable"},
		{name: "redis-takes-and-dies", argv: on(takes(), "SET", "a", "b"), applied: true, happened: "the server took the command and died", kind: "failed"},
		{name: "redis-repeat-takes-and-dies", argv: on(takes(), "-r", "3", "INCR", "a"), applied: true, happened: "the server took the first command and died", kind: "failed"},
		{name: "redis-hangs-up", argv: on(s.hangsUp(), "SET", "a", "b"), applied: true, happened: "the connection is closed at once", kind: "failed"},
		{name: "redis-eval-refused", argv: on(port, "--eval", "a.lua"), files: map[string]string{"a.lua": "return 1"}, happened: "nobody listens", kind: "unavailable"},
	} {
		s.play(c)
	}
	if !have("redis-server") {
		return
	}
	real := closed()
	server := plain(exec.Command("redis-server", "--port", real, "--save", "", "--dir", s.redisDir()))
	s.start(server, real)
	imitation := "Could not connect to Redis at 127.0.0.1:1: Connection refused"
	loading := "LOADING Redis is loading the dataset in memory"
	for _, c := range []scene{
		{name: "redis-error", argv: on(real, "-e", "INCR", "a", "b"), happened: "an error of the server's", kind: "failed"},
		{name: "redis-eval-imitates", argv: on(real, "-e", "EVAL", "redis.call('SET','a','b') return {err='"+imitation+"'}", "0"), applied: true, happened: "a script wrote, and said the words of a failed connection", kind: "unavailable"},
		{name: "redis-eval-loading", argv: on(real, "-e", "EVAL", "redis.call('SET','a','b') return {err='"+loading+"'}", "0"), applied: true, happened: "a script wrote, and said that the data are being loaded", kind: "loading"},
	} {
		s.play(c)
	}
	s.loading(real, on)
}

func (s *stage) redisDir() string {
	dir := filepath.Join(s.dir, "redis")
	check(os.MkdirAll(dir, 0o755))
	own(dir)
	return dir
}

// loading asks a server that loads slowly.
func (s *stage) loading(port string, on func(string, ...string) []string) {
	fill := exec.Command("redis-cli", "-p", port)
	var commands strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&commands, "SET key%d %s\n", i, strings.Repeat("x", 100))
	}
	commands.WriteString("SAVE\n")
	fill.Stdin = strings.NewReader(commands.String())
	check(fill.Run())
	slow := closed()
	s.start(plain(exec.Command("redis-server", "--port", slow, "--save", "", "--dir", s.redisDir(),
		"--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024")), slow)
	time.Sleep(500 * time.Millisecond)
	s.play(scene{name: "redis-loading", argv: on(slow, "-e", "SET", "a", "b"), happened: "the server loads its data", kind: "loading"})
	s.play(scene{name: "redis-loading-get", argv: on(slow, "-e", "GET", "a"), happened: "the server loads its data", kind: "loading"})
}

// takeCommand reads one command of the protocol: "*3", then "$n" and a word each.
func takeCommand(r *bufio.Reader) {
	var words int
	_, err := fmt.Fscanf(r, "*%d\r\n", &words)
	check(err)
	for range 2 * words {
		_, err := r.ReadString('\n')
		check(err)
	}
}
