package drivers_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// server is a real one, which a test starts and kills. What was applied to it
// outlives it.
type server struct {
	t       *testing.T
	port    int
	data    string
	command []string
	deadly  syscall.Signal // kills it with its children
	look    func(context.Context) error
	applied func() (int, error)

	running *exec.Cmd
	said    bytes.Buffer
}

func newServer(t *testing.T) *server {
	data := t.TempDir()
	if err := os.Chmod(data, 0o755); err != nil { // for the user that it runs as
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := &server{t: t, port: listener.Addr().(*net.TCPAddr).Port, data: data, deadly: syscall.SIGKILL}
	t.Cleanup(s.kill)
	return s
}

// debian is one of Debian's servers, in which database/sql counts what was applied.
func debian(t *testing.T, kind, driver, dsn string, options ...string) *server {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("the servers are Debian's packages")
	}
	s := newServer(t)
	s.command = append([]string{"../tests/databases/serve.sh", kind, s.data, strconv.Itoa(s.port)}, options...)
	if err := os.Chmod(filepath.Dir(s.data), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, fmt.Sprintf(dsn, s.port))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0)
	t.Cleanup(func() { db.Close() })
	s.look = db.PingContext
	s.applied = func() (n int, err error) {
		return n, db.QueryRow("select count(*) from applied").Scan(&n)
	}
	return s
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// start waits until it answers.
func (s *server) start(options ...string) {
	s.begin(options...)
	s.until(func() error { return s.look(s.t.Context()) })
}

// begin waits until it listens.
func (s *server) begin(options ...string) {
	s.said.Reset()
	s.running = exec.Command(s.command[0], append(s.command[1:], options...)...)
	s.running.Stdout, s.running.Stderr = &s.said, &s.said
	if err := s.running.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.until(func() error {
		connection, err := net.Dial("tcp", s.address())
		if err == nil {
			connection.Close()
		}
		return err
	})
}

// until waits for what will be so, as long as the machine takes.
func (s *server) until(look func() error) {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := look()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.kill()
			s.t.Fatalf("never: %v\n%s", err, s.said.String())
		}
	}
}

func (s *server) kill() {
	if s.running == nil {
		return
	}
	_ = s.running.Process.Signal(s.deadly)
	_ = s.running.Wait()
	s.running = nil
}

func (s *server) count() int {
	n, err := s.applied()
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// trouble is what a server that is up gets into; it gives what ends that.
type trouble struct {
	name  string
	begin func(*server) (end func())
}

var refused = trouble{"refused", func(s *server) func() {
	s.kill()
	return func() { s.start() }
}}

var startingUp = trouble{"starting up", func(s *server) func() {
	s.kill()
	recovery := filepath.Join(s.data, "cluster", "recovery.signal")
	if err := os.WriteFile(recovery, nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.begin("-c", "restore_command=sleep 600; false")
	return func() {
		s.kill()
		if err := os.Remove(recovery); err != nil {
			s.t.Fatal(err)
		}
		s.start()
	}
}}

// crowded is a server all of whose connections others have taken.
func crowded(name string, take func(*server) (end func(), err error)) trouble {
	return trouble{name, func(s *server) func() {
		var taken []func()
		for {
			end, err := take(s)
			if err != nil {
				return func() {
					for _, end := range taken {
						end()
					}
					s.until(func() error { return s.look(s.t.Context()) })
				}
			}
			taken = append(taken, end)
		}
	}}
}
