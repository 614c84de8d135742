//go:build unix

package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func psql(s *stage) {
	port := closed()
	on := func(port string, more ...string) []string {
		return append([]string{"psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres"}, more...)
	}
	write := []string{"-c", "INSERT INTO t VALUES (1)"}
	for _, c := range []scene{
		{name: "psql-refused", argv: on(port, write...), happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "psql-localhost-refused", argv: []string{"psql", "-X", "-h", "localhost", "-p", port, "-c", "SELECT 1"}, happened: "nobody listens, at one or two addresses", sure: true, kind: "unavailable"},
		{name: "psql-socket", argv: []string{"psql", "-X", "-h", s.dir, "-p", port, "-c", "SELECT 1"}, happened: "the socket does not exist", sure: true, kind: "unavailable"},
		{name: "psql-unresolved", argv: []string{"psql", "-X", "-h", unresolvable, "-c", "SELECT 1"}, happened: "the name does not resolve", sure: true, kind: "unresolved"},
		{name: "psql-silent", argv: []string{"psql", "-X", "-d", "host=127.0.0.1 connect_timeout=2 port=" + s.silent(), "-c", "SELECT 1"}, happened: "the host does not answer", sure: true, kind: "unavailable"},
		{name: "psql-hangs-up", argv: on(s.hangsUp(), write...), happened: "the connection is closed at once", sure: true, kind: "unavailable"},
		{name: "psql-script-refused", argv: on(port, "-f", "a.sql"), files: map[string]string{"a.sql": "INSERT INTO t VALUES (1);\n"}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "psql-script-backslash-refused", argv: on(port, "-f", "a.sql"), files: map[string]string{"a.sql": "\\c other\nINSERT INTO t VALUES (1);\n"}, happened: "nobody listens; the script could say the same", kind: "unavailable"},
		{name: "psql-stdin-refused", argv: on(port), stdin: "INSERT INTO t VALUES (1);\n", happened: "nobody listens; the script could say the same", kind: "unavailable"},
		{name: "psql-rc-refused", argv: []string{"psql", "-h", "127.0.0.1", "-p", port, "-c", "SELECT 1"}, files: map[string]string{".psqlrc": "\\warn x\n"}, happened: "nobody listens; the psqlrc could say the same", kind: "unavailable"},
		{name: "psql-no-rc-refused", argv: []string{"psql", "-h", "127.0.0.1", "-p", port, "-c", "SELECT 1"}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "psql-german-refused", argv: on(port, write...), env: []string{"LANGUAGE=de"}, happened: "nobody listens; psql speaks German where its translations are installed", kind: "failed"},
	} {
		if c.name == "psql-german-refused" && !speaksGerman(port) {
			continue
		}
		s.play(c)
	}
	if have("initdb", "postgres") {
		postgres(s, port, on)
	}
}

func speaksGerman(port string) bool {
	cmd := exec.Command("psql", "-h", "127.0.0.1", "-p", port, "-c", "SELECT 1")
	cmd.Env = append(os.Environ(), "LANGUAGE=de")
	out, _ := cmd.CombinedOutput()
	return strings.Contains(string(out), "Verbindung")
}

// postgres has a real server start, stop and die.
func postgres(s *stage, dead string, on func(string, ...string) []string) {
	data := filepath.Join(s.dir, "data")
	check(os.Mkdir(data, 0o700))
	own(data)
	out, err := plain(exec.Command("initdb", "-A", "trust", "-U", "postgres", "-D", data)).CombinedOutput()
	if err != nil {
		panic(string(out))
	}
	port := closed()
	serve := func() *exec.Cmd {
		return plain(exec.Command("postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=", "-c", "logging_collector=off", "-c", "restart_after_crash=off"))
	}
	server := serve()
	s.start(server, port)
	ready(port)
	run := func(sql string) *exec.Cmd {
		return exec.Command("psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-c", sql)
	}
	check(run("CREATE TABLE t (n int)").Run())
	imitation := `psql: error: connection to server at "127.0.0.1", port 1 failed: Connection refused`
	die := "SELECT pg_terminate_backend(pg_backend_pid())"
	for _, c := range []scene{
		{name: "psql-no-role", argv: []string{"psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "nobody_such", "-c", "SELECT 1"}, happened: "the role does not exist", sure: true, kind: "failed"},
		{name: "psql-no-database", argv: on(port, "-d", "x failed: Connection refused", "-c", "SELECT 1"), happened: "the database does not exist, and its name has the words of a failed connection", sure: true, kind: "failed"},
		{name: "psql-sql-error", argv: on(port, "-c", "INSERT INTO t VALUES (1); SELECT 1/0"), happened: "an error of SQL", kind: "failed"},
		{name: "psql-raise", argv: on(port, "-c", "INSERT INTO t VALUES (1)", "-c", "DO 'BEGIN RAISE NOTICE USING MESSAGE = E''\\n"+strings.ReplaceAll(imitation, `"`, "''''")+"''; END'", "-c", die), applied: true, happened: "a notice of the server's has the words of a failed connection, then the connection ends", kind: "failed"},
		{name: "psql-raise-plain", argv: on(port, "-c", "INSERT INTO t VALUES (1)", "-c", "DO $$BEGIN RAISE NOTICE '"+imitation+"'; END$$", "-c", die), applied: true, happened: "likewise", kind: "failed"},
		{name: "psql-terminated", argv: on(port, "-c", "INSERT INTO t VALUES (1)", "-c", die), applied: true, happened: "the server ended the connection after a write", kind: "failed"},
		{name: "psql-connect-again", argv: on(port, "-v", "ON_ERROR_STOP=1", "-f", "a.sql"), files: map[string]string{"a.sql": "INSERT INTO t VALUES (1);\n\\connect - - - " + dead + "\n"}, applied: true, happened: "the script wrote, and connected to where nobody listens", kind: "failed"},
		{name: "psql-connect-again-stdin", argv: on(port), stdin: "INSERT INTO t VALUES (1);\n\\connect - - - " + dead + "\n", applied: true, happened: "likewise, from stdin", kind: "failed"},
		{name: "psql-connect-again-command", argv: on(port, "-c", "INSERT INTO t VALUES (1)", "-c", `\connect - - - `+dead), applied: true, happened: "likewise, with -c", kind: "failed"},
		{name: "psql-warn", argv: on(port), stdin: "INSERT INTO t VALUES (1);\n\\warn '" + imitation + "'\n" + die + ";\n", applied: true, happened: "the script itself printed the words of a failed connection, and the connection ended", kind: "unavailable"},
		{name: "psql-warn-script", argv: on(port, "-f", "a.sql"), files: map[string]string{"a.sql": "INSERT INTO t VALUES (1);\n\\warn '" + imitation + "'\n" + die + ";\n"}, applied: true, happened: "likewise", kind: "unavailable"},
		{name: "psql-shell", argv: on(port), stdin: "INSERT INTO t VALUES (1);\n\\! psql -X -h 127.0.0.1 -p " + dead + "\n" + die + ";\n", applied: true, happened: "a psql that the script ran could not connect, and the connection ended", kind: "unavailable"},
		{name: "psql-variable", argv: on(port, "-v", `x=\warn `+imitation+"\n", "-f", "a.sql"), files: map[string]string{"a.sql": "INSERT INTO t VALUES (1);\n:x\n" + die + ";\n"}, applied: true, happened: "a variable's value was a command, which printed the words of a failed connection", kind: "unavailable"},
		{name: "psql-output-to-stderr", argv: on(port, "-t", "-A", "-o", "/dev/stderr", "-c", "INSERT INTO t VALUES (1) RETURNING '"+imitation+"'", "-c", die), applied: true, happened: "the answer went to stderr and has the words of a failed connection", kind: "unavailable"},
	} {
		s.play(c)
	}
	midway := on(port, "-f", "a.sql")
	go func() {
		time.Sleep(2 * time.Second)
		server.Process.Signal(syscall.SIGQUIT)
	}()
	s.play(scene{name: "psql-dies-midway", argv: midway, files: map[string]string{"a.sql": "INSERT INTO t VALUES (1);\nSELECT pg_sleep(30);\n"}, applied: true, happened: "the server died after a write", kind: "failed"})
	server.Wait()
	full(s, serve(), port, on)
	stopping(s, serve(), port, on)
	recovering(s, data, serve(), port, on)
}

// ready waits until the server answers, or says why it does not.
func ready(port string) {
	for range 200 {
		if exec.Command("psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-c", "SELECT 1").Run() == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	panic("postgres did not come up")
}

// stopping asks a server that waits for its last session to end.
func stopping(s *stage, server *exec.Cmd, port string, on func(string, ...string) []string) {
	s.start(server, port)
	ready(port)
	session := exec.Command("psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-c", "SELECT pg_sleep(60)")
	check(session.Start())
	time.Sleep(time.Second)
	server.Process.Signal(syscall.SIGTERM)
	time.Sleep(time.Second)
	s.play(scene{name: "psql-shutting-down", argv: on(port, "-c", "INSERT INTO t VALUES (1)"), sure: true, happened: "the server shuts down, and waits for a session", kind: "unavailable"})
	stop(session)
	server.Process.Signal(syscall.SIGINT)
	server.Wait()
}

// recovering asks a server whose recovery waits for a log that does not come.
func recovering(s *stage, data string, server *exec.Cmd, port string, on func(string, ...string) []string) {
	check(os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o600))
	own(filepath.Join(data, "recovery.signal"))
	server.Args = append(server.Args, "-c", "restore_command=sleep 30; false")
	s.start(server, port)
	s.play(scene{name: "psql-starting-up", argv: on(port, "-c", "INSERT INTO t VALUES (1)"), sure: true, happened: "the server is recovering", kind: "unavailable"})
	s.play(scene{name: "psql-lost-at-once", argv: on(diesAfter(func(c net.Conn, r *bufio.Reader) { r.ReadByte() }), "-c", "SELECT 1"), sure: true, happened: "the server died while the connection was made", kind: "unavailable"})
}
