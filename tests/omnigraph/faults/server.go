package faults

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server fails in one way, on a loopback address.
type Server struct {
	URL string

	fault    Fault
	contract string
	listener net.Listener
	stopped  chan struct{}
	deaf     chan struct{} // is closed once nobody can connect any more
	mu       sync.Mutex
	applied  int
	conns    []net.Conn
}

// Start has a server fail, before clients of a contract such as 0.13.
func (f Fault) Start(contract string) (*Server, error) {
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + listener.Addr().String(), fault: f, contract: contract, listener: listener, stopped: make(chan struct{}), deaf: make(chan struct{})}
	switch f.Instead {
	case "unresolvable":
		s.URL = "http://graph.invalid:8080" // RFC 2606: nobody has such a name
	case "untrusted":
		s.URL = strings.Replace(s.URL, "http", "https", 1)
		listener = tls.NewListener(listener, untrusted())
	case "refuse":
		return s, listener.Close()
	}
	go s.serve(listener)
	return s, nil
}

// ports are those below the ones that a system gives out by itself, each taken once:
// whoever is to be refused would else meet the next server, which was given the port
// of one that has gone. They begin anywhere, since other processes may do the same.
var ports atomic.Uint32

const firstPort, morePorts = 10_000, 20_000

func init() { ports.Store(rand.Uint32N(morePorts)) }

func listen() (l net.Listener, err error) {
	for range 100 {
		port := firstPort + ports.Add(1)%morePorts
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// untrusted is a certificate that no machine trusts: that of Go's tests.
func untrusted() *tls.Config {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	return &tls.Config{Certificates: server.TLS.Certificates}
}

// Applied says how many requests took effect.
func (s *Server) Applied() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

// Stop ends the server and all its connections.
func (s *Server) Stop() {
	close(s.stopped)
	s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
}

func (s *Server) serve(listener net.Listener) {
	defer close(s.deaf)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		go s.one(conn)
	}
}

func (s *Server) one(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		step := s.step(request)
		if step == nil {
			step = &Step{Status: http.StatusOK, Body: []byte(`{"human":"1 row","rows":[]}`)}
		}
		if !s.play(conn, request, step) {
			return
		}
	}
}

// step is what meets a request. A write that meets it may take effect.
func (s *Server) step(request *http.Request) *Step {
	switch {
	case strings.HasSuffix(request.URL.Path, "/healthz"):
		return s.fault.Discovery
	case strings.HasSuffix(request.URL.Path, "/readyz"):
		return &Step{Status: http.StatusOK, Body: []byte(`{"ready":true,"status":"serving"}`)}
	}
	if request.Method != http.MethodGet && (s.fault.Applied || s.fault.Data == nil) {
		s.mu.Lock()
		s.applied++
		s.mu.Unlock()
	}
	return s.fault.Data
}

// play does it, and says whether the connection goes on.
func (s *Server) play(conn net.Conn, request *http.Request, step *Step) bool {
	switch step.Does {
	case "":
		s.answer(conn, request, step, false)
		return true
	case "go":
		s.listener.Close()
		<-s.deaf // for while somebody accepts, the socket stays open
		s.answer(conn, request, &Step{Status: http.StatusOK}, true)
	case "close":
	case "reset":
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	case "silence":
		select {
		case <-s.stopped:
		case <-time.After(time.Minute):
		}
	case "garble":
		io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
	case "cut":
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s: %s\r\ncontent-length: 100\r\n\r\n{\"affected", header, s.contract)
	case "cut_chunk":
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s: %s\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{\"affected\"", header, s.contract)
	default:
		panic("faults.jsonl: a step does " + step.Does)
	}
	return false
}

const header = "omnigraph-http-api"

func (s *Server) answer(conn net.Conn, request *http.Request, step *Step, last bool) {
	body := string(step.Body)
	if step.Body == nil {
		body = step.Text
	}
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n", step.Status, http.StatusText(step.Status), len(body))
	contract := step.Contract
	if contract == nil {
		contract = []string{"OWN"}
	}
	for _, value := range contract {
		fmt.Fprintf(&out, "%s: %s\r\n", header, strings.ReplaceAll(value, "OWN", s.contract))
	}
	for name, value := range step.Headers {
		fmt.Fprintf(&out, "%s: %s\r\n", name, value)
	}
	if last {
		out.WriteString("connection: close\r\n")
	}
	out.WriteString("\r\n")
	if request.Method != http.MethodHead {
		out.WriteString(body)
	}
	io.WriteString(conn, out.String())
}
