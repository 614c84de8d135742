package measure

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outlast/outages"
)

// The test binary is its own server: with this in its environment it serves at
// that address until it is killed.
const serveAt = "OUTLAST_TEST_SERVE_AT"

func TestMain(m *testing.M) {
	if addr := os.Getenv(serveAt); addr != "" {
		serve(addr)
	}
	goleak.VerifyTestMain(m)
}

// serve says when it began to listen and, once it is told to be ready, when it
// was, each as a moment before and one after.
func serve(addr string) {
	stamp := func() int64 { return time.Now().UnixNano() }
	before := stamp()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr(), before, stamp())
	var ready atomic.Bool
	go func() {
		var word string
		fmt.Scan(&word)
		before := stamp()
		ready.Store(true)
		fmt.Println(before, stamp())
		fmt.Scan(&word)
		os.Exit(0) // the test is gone
	}()
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
}

// server is a real process.
type server struct {
	t    *testing.T
	addr string
	cmd  *exec.Cmd
	in   io.Writer
	out  io.Reader
}

// period is when the server went away and came back, each within a span.
type period struct{ went, listened, ready outages.Span }

// start gives when the server listened. It is not ready yet.
func (s *server) start() outages.Span {
	s.t.Helper()
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), serveAt+"="+s.addr)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	return s.span(&s.addr)
}

// ready tells the server to be ready, and gives when it was.
func (s *server) ready() outages.Span {
	s.t.Helper()
	fmt.Fprintln(s.in, "ready")
	return s.span()
}

func (s *server) span(first ...any) outages.Span {
	s.t.Helper()
	var before, after int64
	if _, err := fmt.Fscan(s.out, append(first, &before, &after)...); err != nil {
		s.t.Fatal(err)
	}
	return outages.Span{From: time.Unix(0, before), To: time.Unix(0, after)}
}

func (s *server) kill() outages.Span {
	before := time.Now()
	s.cmd.Process.Kill()
	s.cmd.Wait()
	return outages.Span{From: before, To: time.Now()}
}

// proxy accepts whatever happens, and passes on what it can.
func proxy(t *testing.T, to func() string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { relay(conn, to()) })
		}
	})
	return listener.Addr().String()
}

func relay(conn net.Conn, to string) {
	defer conn.Close()
	behind, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	done := make(chan bool)
	go func() {
		io.Copy(behind, conn)
		behind.Close()
		close(done)
	}()
	io.Copy(conn, behind)
	conn.Close()
	<-done
}
