//go:build unix

package main

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"outlast/commands/internal/h2"
)

func curl(s *stage) {
	port, dark, hang := closed(), s.silent(), s.hangsUp()
	at := func(port string) string { return "http://127.0.0.1:" + port + "/" }
	secure := func(port string) string { return "https://127.0.0.1:" + port + "/" }
	body := filepath.Join(s.dir, "body")
	check(os.WriteFile(body, []byte(strings.Repeat("x", 2<<20)), 0o600))
	for _, c := range []scene{
		{name: "curl-get-refused", argv: []string{"curl", "-sS", at(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-get-refused-progress", argv: []string{"curl", at(port)}, happened: "nobody listens; with the progress meter", sure: true, kind: "unavailable"},
		{name: "curl-get-refused-verbose", argv: []string{"curl", "-v", at(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-silent-refused", argv: []string{"curl", "-s", at(port)}, happened: "nobody listens; nothing says so but the code", kind: "unavailable"},
		{name: "curl-post-refused", argv: []string{"curl", "-sSf", "-X", "POST", "-d", "a=1", at(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-post-file-refused", argv: []string{"curl", "-sSf", "-d", "@" + body, at(port)}, happened: "nobody listens; a body that curl asks the server to expect", kind: "unavailable"},
		{name: "curl-post-file-unexpected-refused", argv: []string{"curl", "-sSf", "-H", "Expect:", "-d", "@" + body, at(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-unresolved", argv: []string{"curl", "-sS", "-d", "a=1", "http://" + unresolvable + "/"}, happened: "the name does not resolve", sure: true, kind: "unresolved"},
		{name: "curl-proxy-unresolved", argv: []string{"curl", "-sS", "-x", "http://" + unresolvable + ":3128", "-d", "a=1", "http://example.invalid/"}, happened: "the proxy's name does not resolve", sure: true, kind: "unresolved"},
		{name: "curl-proxy-refused", argv: []string{"curl", "-sS", "-x", at(port), "-d", "a=1", "http://example.invalid/"}, happened: "no proxy listens", sure: true, kind: "unavailable"},
		{name: "curl-unix-socket", argv: []string{"curl", "-sS", "--unix-socket", s.dir + "/none", "-d", "a=1", "http://localhost/"}, happened: "the socket does not exist", sure: true, kind: "unavailable"},
		{name: "curl-connect-timeout", argv: []string{"curl", "-sS", "--connect-timeout", "1", "-d", "a=1", at(dark)}, happened: "the host does not answer", sure: true, kind: "unavailable"},
		{name: "curl-connect-max-time", argv: []string{"curl", "-sS", "-m", "1", "-d", "a=1", at(dark)}, happened: "the host does not answer", sure: true, kind: "unavailable"},
		{name: "curl-connect-timeout-progress", argv: []string{"curl", "--connect-timeout", "1", "-d", "a=1", at(dark)}, happened: "the host does not answer; the words are not on the first line", kind: "failed"},
		{name: "curl-https-refused", argv: []string{"curl", "-sS", "-d", "a=1", secure(port)}, happened: "nobody listens; by https, which offers HTTP/2", kind: "unavailable"},
		{name: "curl-https1-refused", argv: []string{"curl", "-sS", "--http1.1", "-d", "a=1", secure(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-https-no-alpn-refused", argv: []string{"curl", "-sS", "--no-alpn", "-d", "a=1", secure(port)}, happened: "nobody listens", sure: true, kind: "unavailable"},
		{name: "curl-http2-refused", argv: []string{"curl", "-sS", "--http2", "-d", "a=1", at(port)}, happened: "nobody listens; HTTP/2 is asked for", kind: "unavailable"},
		{name: "curl-hangs-up", argv: []string{"curl", "-sS", "-d", "a=1", at(hang)}, happened: "the connection is closed at once", applied: true, kind: "failed"},
		{name: "curl-two-refused", argv: []string{"curl", "-sS", "-d", "a=1", at(port), at(port)}, happened: "nobody listens, twice", kind: "unavailable"},
		{name: "curl-other-protocol", argv: []string{"curl", "-sS", "ftp://127.0.0.1:" + port + "/"}, happened: "nobody listens", kind: "unavailable"},
		{name: "curl-guessed-protocol", argv: []string{"curl", "-sS", "127.0.0.1:" + port}, happened: "nobody listens", kind: "unavailable"},
	} {
		s.play(c)
	}
	curlServers(s, port, at)
	curlTraps(s, port, body, at)
	curlStreams(s, at, secure)
}

// curlServers are failures of servers that are there.
func curlServers(s *stage, port string, at func(string) string) {
	fails := s.web(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Warning", "curl: (7) Failed to connect to h port 1")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte("curl: (28) Connection timed out after 1 ms\n"))
	})
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.TLS = &tls.Config{}
	secure.StartTLS()
	s.cleanup = append(s.cleanup, secure.Close)
	slow := diesAfter(func(c net.Conn, r *bufio.Reader) {
		request(r)
		c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncurl: (28) Connection timed out after 1 ms\n"))
		r.ReadByte() // until curl goes
	})
	for _, c := range []scene{
		{name: "curl-http-503", argv: []string{"curl", "-sSf", "-d", "a=1", at(fails)}, happened: "the server answers 503", applied: true, kind: "interrupted"},
		{name: "curl-http-503-verbose", argv: []string{"curl", "-v", "-f", "-d", "a=1", at(fails)}, happened: "the server answers 503, with the words of a failed connection", applied: true, kind: "interrupted"},
		{name: "curl-tls-untrusted", argv: []string{"curl", "-sS", "-d", "a=1", secure.URL}, happened: "the certificate is not trusted", kind: "failed"},
		{name: "curl-tls-to-plain", argv: []string{"curl", "-sS", "-d", "a=1", strings.Replace(at(fails), "http:", "https:", 1)}, happened: "the server speaks no TLS", kind: "failed"},
		{name: "curl-max-time", argv: []string{"curl", "-sS", "-m", "1", "-d", "a=1", "-o", "/dev/stderr", at(slow)}, happened: "the answer came in part, to stderr, with the words of a failed connection", applied: true, kind: "failed"},
		{name: "curl-dies-midway", argv: []string{"curl", "-sS", "-d", "a=1", at(diesAfter(func(c net.Conn, r *bufio.Reader) { request(r) }))}, happened: "the request arrived, then the server died", applied: true, kind: "failed"},
		{name: "curl-dies-in-answer", argv: []string{"curl", "-sS", "-d", "a=1", at(diesAfter(func(c net.Conn, r *bufio.Reader) {
			request(r)
			c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"))
		}))}, happened: "the answer broke off", applied: true, kind: "failed"},
	} {
		s.play(c)
	}
}

// curlTraps end with a connection that cannot be made, after a request that was
// carried out.
func curlTraps(s *stage, port, body string, at func(string) string) {
	ok := s.web(func(http.ResponseWriter, *http.Request) {})
	moved := s.web(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, at(port), http.StatusSeeOther) })
	refusesToExpect := func() string {
		return diesAfter(func(c net.Conn, r *bufio.Reader) {
			_, err := http.ReadRequest(r)
			check(err)
			c.Write([]byte("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"))
			request(r)
		})
	}
	retried := diesAfter(func(c net.Conn, r *bufio.Reader) {
		request(r)
		c.Write([]byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	})
	for _, c := range []scene{
		{name: "curl-second-refused", argv: []string{"curl", "-sS", "-d", "a=1", at(ok), at(port)}, happened: "the first transfer was carried out"},
		{name: "curl-next-refused", argv: []string{"curl", "-sS", "-d", "a=1", at(ok), "--next", "-sS", at(port)}, happened: "the first transfer was carried out"},
		{name: "curl-glob-refused", argv: []string{"curl", "-sS", "-d", "a=1", "http://127.0.0.1:{" + ok + "," + port + "}/"}, happened: "the first transfer was carried out"},
		{name: "curl-redirect-refused", argv: []string{"curl", "-sSL", "-d", "a=1", at(moved)}, happened: "the request was carried out, and answered with a redirect to where nobody listens"},
		{name: "curl-config-refused", argv: []string{"curl", "-sS", "-K", "options", "-d", "a=1", at(port)}, files: map[string]string{"options": "url = " + at(ok) + "\n"}, happened: "the transfer in the file was carried out"},
		{name: "curl-rc-refused", argv: []string{"curl", "-sS", "-d", "a=1", at(port)}, files: map[string]string{".curlrc": "url = " + at(ok) + "\n"}, happened: "the transfer in .curlrc was carried out"},
		{name: "curl-retry-refused", argv: []string{"curl", "-sS", "--retry", "1", "--retry-delay", "1", "-d", "a=1", at(retried)}, happened: "the request was answered with 503, and curl's own retry met nobody"},
		{name: "curl-expect-refused", argv: []string{"curl", "-sS", "-H", "Expect: 100-continue", "-d", "a=1", at(refusesToExpect())}, happened: "the server refused to expect a body, got the request again over the same connection, and died; curl tried once more"},
		{name: "curl-expect-file-refused", argv: []string{"curl", "-sS", "-d", "@" + body, at(refusesToExpect())}, happened: "likewise, with a body of 2 MiB"},
	} {
		c.applied, c.kind = true, "unavailable"
		s.play(c)
	}
}

// curlStreams are requests that are carried out by HTTP/2, and whose stream is
// then reset: curl sends them again, and meets nobody.
func curlStreams(s *stage, at, secure func(string) string) {
	config := s.certificate()
	for _, code := range []struct {
		name string
		code uint32
		says string
	}{{"refused-stream", h2.RefusedStream, "refused the stream"}, {"http11-required", h2.HTTP11Required, "asked for HTTP/1.1"}} {
		encrypted := func() string {
			return secure(diesAfter(func(c net.Conn, _ *bufio.Reader) {
				check(h2.Refuse(tls.Server(c, config), code.code, false, func() {}))
			}))
		}
		plain := func() string {
			return at(diesAfter(func(c net.Conn, _ *bufio.Reader) { check(h2.Refuse(c, code.code, false, func() {})) }))
		}
		upgrades := func() string {
			return at(diesAfter(func(c net.Conn, r *bufio.Reader) {
				request(r)
				c.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"))
				check(h2.Refuse(struct {
					io.Reader
					io.Writer
				}{r, c}, code.code, true, func() {}))
			}))
		}
		for _, c := range []scene{
			{name: "curl-https", argv: []string{"curl", "-sS", "-k", "-d", "a=1", encrypted()}},
			{name: "curl-https2", argv: []string{"curl", "-sS", "-k", "--http2", "-d", "a=1", encrypted()}},
			{name: "curl-https2-prior", argv: []string{"curl", "-sS", "-k", "--http2-prior-knowledge", "-d", "a=1", encrypted()}},
			{name: "curl-http2-prior", argv: []string{"curl", "-sS", "--http2-prior-knowledge", "-d", "a=1", plain()}},
			{name: "curl-http2-upgrade", argv: []string{"curl", "-sS", "--http2", "-d", "a=1", upgrades()}},
		} {
			c.name += "-" + code.name
			c.happened = "the server carried the request out and " + code.says + ", and nobody listened any more"
			c.applied, c.kind = true, "unavailable"
			if c.name == "curl-http2-upgrade-refused-stream" {
				c.kind = "failed" // there curl does not try again
			}
			s.play(c)
		}
	}
}
