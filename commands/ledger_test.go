package commands_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"outlast/abi"
	"outlast/commands"
	"outlast/commands/internal/h2"

	"pgregory.net/rapid"
)

// ledger is a server that counts what it carries out and then goes away, in one
// of the ways in which a client may meet nobody afterwards.
type ledger struct {
	listener net.Listener
	port     string
	manner   string
	dead     string // a port where nobody listens
	tls      *tls.Config

	mu      sync.Mutex
	applied int
	served  sync.WaitGroup
}

var manners = []string{"answers", "redirects", "is busy", "refuses to expect", "dies", refusesStream, asksForHTTP1}

// What only a server of HTTP/2 can do; by HTTP/1 these die.
const (
	refusesStream = "refuses the stream"
	asksForHTTP1  = "asks for HTTP/1.1"
)

var resets = map[string]uint32{refusesStream: h2.RefusedStream, asksForHTTP1: h2.HTTP11Required}

func newLedger(t *rapid.T, manner string, config *tls.Config) *ledger {
	var ports []string
	var listeners []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports, listeners = append(ports, port), append(listeners, l)
	}
	listeners[1].Close()
	l := &ledger{listener: listeners[0], port: ports[0], dead: ports[1], manner: manner, tls: config}
	l.served.Go(func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return
			}
			l.served.Go(func() { l.serve(c) })
		}
	})
	return l
}

// serve answers the requests of one connection. It stops listening with the
// first that it carries out.
func (l *ledger) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	if first, err := r.Peek(1); err == nil && first[0] == tlsHandshake {
		c = tls.Server(reread{c, r}, l.tls)
		defer c.Close() // says that it goes
		r = bufio.NewReader(c)
	}
	for {
		if start, err := r.Peek(len("PRI ")); err == nil && string(start) == "PRI " {
			l.reset(c, r, false)
			return
		}
		q, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if l.manner == "refuses to expect" && q.Header.Get("Expect") != "" && l.count() == 0 {
			l.refuse(c, r)
			return
		}
		if q.Header.Get("Expect") != "" {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		if _, err := io.Copy(io.Discard, q.Body); err != nil {
			return
		}
		if q.Header.Get("Upgrade") == "h2c" && resets[l.manner] != 0 {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
			l.reset(c, r, true)
			return
		}
		l.apply()
		switch l.manner {
		case "redirects":
			io.WriteString(c, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:"+l.dead+"/\r\nContent-Length: 0\r\n\r\n")
		case "is busy":
			io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		case "dies", "refuses to expect", refusesStream, asksForHTTP1:
			return
		default:
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}
}

// tlsHandshake is the first byte of a client that speaks TLS (RFC 8446, 5.1).
const tlsHandshake = 22

// reread is a connection of which some is read already.
type reread struct {
	net.Conn
	r io.Reader
}

func (c reread) Read(p []byte) (int, error) { return c.r.Read(p) }

// reset carries a request out by HTTP/2, and resets its stream; another manner
// than the two is to die.
func (l *ledger) reset(c net.Conn, r io.Reader, upgraded bool) {
	h2.Refuse(reread{c, r}, max(resets[l.manner], h2.RefusedStream), upgraded, l.apply)
}

// refuse refuses to expect a body, takes the request when it comes again, as it
// is or with another wish, and dies.
func (l *ledger) refuse(c net.Conn, r *bufio.Reader) {
	io.WriteString(c, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
	if q, err := http.ReadRequest(r); err == nil {
		if _, err := io.Copy(io.Discard, q.Body); err == nil {
			l.apply()
		}
	}
}

func (l *ledger) apply() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applied++
	l.listener.Close()
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied
}

// Whatever the command line is, and however the server goes away: where the two
// together say that nothing was sent, the server has carried out nothing.
func TestNothingSentMeansNothingApplied(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	env := home(t, map[string]string{"body": strings.Repeat("x", 2<<20)})
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	proved := 0
	prove := func(t *rapid.T) {
		l := newLedger(t, rapid.SampledFrom(manners).Draw(t, "manner"), config)
		here, nowhere := "http://127.0.0.1:"+l.port+"/", "http://127.0.0.1:"+l.dead+"/"
		secure := "https://127.0.0.1:" + l.port + "/"
		if err := os.WriteFile(filepath.Join(dir, "options"), []byte("url = "+here+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		option := rapid.SampledFrom([][]string{
			{"-f"}, {"-L"}, {"-v"}, {"-g"}, {"-i"}, {"-X", "POST"}, {"-d", "a=1"}, {"-d", "a=1"}, {"-d", "@body"}, {"--data-raw", "@body"},
			{"-H", "Expect:"}, {"-H", "Expect: 100-continue"}, {"-T", "body"}, {"-F", "a=b"}, {"-K", "options"}, {"--next"},
			{"-o", "out"}, {"-o", "/dev/stderr"}, {here}, {nowhere}, {"--url", nowhere}, {"http://127.0.0.1:{" + l.port + "," + l.dead + "}/"},
		})
		version := rapid.SampledFrom([][]string{
			nil, nil, {"--http1.1"}, {"-0"}, {"--no-alpn"}, {"--http2"}, {"--http2-prior-knowledge"},
			{"--http1.1", "--http2"}, {"--http2", "--http1.1"}, {"--no-alpn", "--alpn"}, {"--no-alpn", "--http2-prior-knowledge"},
		})
		argv := append([]string{"curl", "-sSk", "-m", "20"}, version.Draw(t, "version")...)
		argv = append(argv, slices.Concat(rapid.SliceOfN(option, 0, 4).Draw(t, "options")...)...)
		argv = append(argv, rapid.SampledFrom([]string{here, nowhere, secure, strings.Replace(nowhere, "http:", "https:", 1)}).Draw(t, "URL"))
		cmd := exec.Command(argv[0], argv[1:]...)
		var stderr strings.Builder
		cmd.Env, cmd.Stderr = append(os.Environ(), env...), &stderr
		cmd.Run() // it may succeed too
		l.listener.Close()
		l.served.Wait()
		code := int64(cmd.ProcessState.ExitCode())
		result := abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr.String())}
		line := commands.Parse(argv, env)
		result.Sent = line.Sent(&result)
		if result.Sent == abi.SentNo && l.count() > 0 {
			t.Fatalf("%q, by a server that %s, ended with %d after %d requests were carried out: %s", argv, l.manner, code, l.count(), stderr.String())
		}
		if got := decide(t, "curl", true, result); got.Action == abi.Retry && l.count() > 0 {
			t.Fatalf("%q, by a server that %s, is repeated", argv, l.manner)
		}
		if result.Sent == abi.SentNo {
			proved++
		}
	}
	for range 5 { // a few lines may all prove nothing
		if proved == 0 {
			rapid.Check(t, prove)
		}
	}
	if proved == 0 {
		t.Error("no command line proved anything, so nothing was tested")
	}
}
