//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// full asks a server that has no connection left, directly and through pgbouncer.
func full(s *stage, server *exec.Cmd, port string, on func(string, ...string) []string) {
	server.Args = append(server.Args, "-c", "max_connections=5", "-c", "superuser_reserved_connections=2")
	s.start(server, port)
	ready(port)
	for _, sql := range []string{"CREATE ROLE u LOGIN", "GRANT ALL ON t TO u", "CREATE ROLE one LOGIN CONNECTION LIMIT 0", "CREATE DATABASE small CONNECTION LIMIT 0"} {
		check(exec.Command("psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-c", sql).Run())
	}
	as := func(user, database string) []string {
		return []string{"psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", user, "-d", database, "-c", "INSERT INTO t VALUES (1)"}
	}
	s.play(scene{name: "psql-slots-role", argv: as("one", "postgres"), sure: true, happened: "the role has no connection left", kind: "unavailable"})
	s.play(scene{name: "psql-slots-database", argv: as("u", "small"), sure: true, happened: "the database has no connection left", kind: "unavailable"})
	var sessions []*exec.Cmd
	sleeper := func(user string) {
		c := exec.Command("psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", user, "-d", "postgres", "-c", "SELECT pg_sleep(60)")
		check(c.Start())
		sessions = append(sessions, c)
	}
	for range 3 {
		sleeper("u")
	}
	time.Sleep(time.Second)
	s.play(scene{name: "psql-slots-reserved", argv: as("u", "postgres"), sure: true, happened: "only the superuser's connections are left", kind: "unavailable"})
	sleeper("postgres")
	sleeper("postgres")
	time.Sleep(time.Second)
	s.play(scene{name: "psql-slots-full", argv: on(port, "-c", "INSERT INTO t VALUES (1)"), sure: true, happened: "no connection is left", kind: "unavailable"})
	for _, c := range sessions {
		c.Process.Signal(syscall.SIGINT) // which ends it in the server too
		c.Wait()
	}
	if have("pgbouncer") {
		pooled(s, server, port)
	}
	server.Process.Signal(syscall.SIGINT)
	server.Wait()
}

// pooled asks through pgbouncer, which has three clients at most, and one
// connection for each database.
func pooled(s *stage, server *exec.Cmd, port string) {
	pool, dead := closed(), closed()
	dir := filepath.Join(s.dir, "pool")
	check(os.Mkdir(dir, 0o700))
	users, config := filepath.Join(dir, "users"), filepath.Join(dir, "pgbouncer.ini")
	check(os.WriteFile(users, []byte("\"postgres\" \"\"\n"), 0o600))
	check(os.WriteFile(config, fmt.Appendf(nil, `[databases]
postgres = host=127.0.0.1 port=%s
dead = host=127.0.0.1 port=%s dbname=postgres
[pgbouncer]
listen_addr=127.0.0.1
listen_port=%s
unix_socket_dir=
auth_type=trust
auth_file=%s
max_client_conn=3
default_pool_size=1
pool_mode=transaction
server_login_retry=1
query_wait_timeout=2
`, port, dead, pool, users), 0o600))
	own(dir, users, config)
	s.start(plain(exec.Command("pgbouncer", "-q", config)), pool)
	through := func(database string, more ...string) []string {
		return append([]string{"psql", "-X", "-h", "127.0.0.1", "-p", pool, "-U", "postgres", "-d", database}, more...)
	}
	one, two := []string{"-c", "INSERT INTO t VALUES (1)"}, []string{"-c", "INSERT INTO t VALUES (1)", "-c", "INSERT INTO t VALUES (2)"}
	s.play(scene{name: "psql-pool-dead", argv: through("dead", one...), sure: true, happened: "pgbouncer cannot connect to its server", kind: "unavailable"})
	check(exec.Command("psql", through("postgres", "-c", "SELECT 1")[1:]...).Run())
	busy := func(n int) (end func()) {
		var sessions []*exec.Cmd
		for range n {
			c := exec.Command("psql", through("postgres", "-c", "SELECT pg_sleep(8)")[1:]...)
			check(c.Start())
			sessions = append(sessions, c)
		}
		time.Sleep(500 * time.Millisecond)
		return func() {
			for _, c := range sessions {
				c.Wait()
			}
		}
	}
	end := busy(1)
	s.play(scene{name: "psql-pool-waits", argv: through("postgres", one...), happened: "pgbouncer had no connection for the statement", kind: "unavailable"})
	end()
	end = busy(3)
	s.play(scene{name: "psql-pool-full", argv: through("postgres", one...), sure: true, happened: "pgbouncer takes no more clients", kind: "unavailable"})
	end()
	check(server.Process.Signal(syscall.SIGINT))
	server.Wait()
	time.Sleep(2 * time.Second)
	s.play(scene{name: "psql-pool-server-away", argv: through("postgres", one...), happened: "pgbouncer's server is away", kind: "unavailable"})
	s.play(scene{name: "psql-pool-server-still-away", argv: through("postgres", two...), happened: "pgbouncer's server is still away", kind: "unavailable"})
	again := plain(exec.Command(server.Args[0], server.Args[1:]...))
	s.start(again, port)
	ready(port)
	for exec.Command("psql", through("postgres", "-c", "SELECT 1")[1:]...).Run() != nil {
		time.Sleep(500 * time.Millisecond) // pgbouncer waits before it tries again
	}
	go func() {
		time.Sleep(2 * time.Second)
		again.Process.Signal(syscall.SIGINT)
	}()
	s.play(scene{name: "psql-pool-midway", argv: through("postgres"), stdin: "INSERT INTO t VALUES (1);\n\\! sleep 4\nINSERT INTO t VALUES (2);\n", applied: true, happened: "pgbouncer's server went away after a write", kind: "unavailable"})
	again.Wait()
}
