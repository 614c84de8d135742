package httpattempt_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// stage is a server at one address that has a fault until it is healed, and what
// a request does there.
type stage struct {
	t       testing.TB
	url     string
	client  *http.Client
	key     string       // the request's Idempotency-Key; "": none
	applied atomic.Int64 // requests that a server has read whole

	mu      sync.Mutex
	listens net.Listener
	healed  atomic.Bool
	certs   atomic.Pointer[tls.Config] // of the server; nil: plain
	mend    func()                     // what healing does beside serving well
}

// newStage has an address, where fault serves each connection until the stage is
// healed. nil: nobody listens.
func newStage(t testing.TB, fault func(*stage, net.Conn)) *stage {
	s := &stage{t: t, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		s.close()
		s.client.CloseIdleConnections()
	})
	s.listen("127.0.0.1:0")
	s.url = "http://" + s.listens.Addr().String() + "/orders"
	if fault == nil {
		s.close()
	} else {
		s.serve(func(c net.Conn) { fault(s, c) })
	}
	return s
}

func (s *stage) listen(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.listens = l
	s.mu.Unlock()
}

func (s *stage) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens.Close()
}

func (s *stage) serve(each func(net.Conn)) {
	l := s.listens
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go each(c)
		}
	}()
}

// heal lets the server answer, at the same address.
func (s *stage) heal() {
	if s.healed.Swap(true) {
		return
	}
	s.close()
	s.listen(s.listens.Addr().String())
	if s.mend != nil {
		s.mend()
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		s.applied.Add(1)
		fmt.Fprintln(w, "done")
	})}
	server.SetKeepAlivesEnabled(false)
	l := s.listens
	if certs := s.certs.Load(); certs != nil {
		l = tls.NewListener(l, certs)
	}
	go server.Serve(l)
	s.t.Cleanup(func() { server.Close() })
}

// answers reads requests, each of which is applied, and answers them.
func answers(answer func(s *stage, c net.Conn)) func(*stage, net.Conn) {
	return func(s *stage, c net.Conn) {
		defer c.Close()
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			s.applied.Add(1)
			answer(s, c)
		}
	}
}

// fine is an answer.
const fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// says is a server that gives this answer until it is healed.
func says(text string) func(*stage, net.Conn) {
	return answers(func(s *stage, c net.Conn) {
		if s.healed.Load() {
			io.WriteString(c, fine)
			return
		}
		io.WriteString(c, text)
	})
}

func status(line string, headers ...string) func(*stage, net.Conn) {
	return says("HTTP/1.1 " + line + "\r\nContent-Length: 0\r\n" + strings.Join(headers, "") + "\r\n")
}

// secured makes the stage one of TLS, whose certificate its client trusts.
func secured(s *stage, protocols ...string) *stage {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	s.t.Cleanup(server.Close)
	s.certs.Store(&tls.Config{Certificates: server.TLS.Certificates, NextProtos: protocols})
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig
	s.client.Transport = &http.Transport{TLSClientConfig: trusted.Clone(), ForceAttemptHTTP2: len(protocols) > 0}
	s.url = "https" + strings.TrimPrefix(s.url, "http")
	return s
}

// clientsWanted asks each client for a certificate.
var clientsWanted = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13}

// goAway is an HTTP/2 server that reads a request, says GOAWAY and closes; the
// stream is above last unless processed. Nobody listens from then on.
func goAway(s *stage, raw net.Conn, processed bool, code uint32) {
	defer raw.Close()
	c := tls.Server(raw, s.certs.Load())
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	frame := func(kind byte, payload ...byte) {
		header := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
		c.Write(append(append(header[1:], kind, 0, 0, 0, 0, 0), payload...))
	}
	const data, headers, settings, away, window, ended = 0, 1, 4, 7, 8, 1
	frame(settings)
	for {
		var header [9]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			return
		}
		io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(header[:])>>8))
		if kind := header[3]; (kind == headers || kind == data) && header[4]&ended != 0 {
			break
		}
	}
	s.close()
	last := uint32(0)
	if processed {
		s.applied.Add(1)
		last = 1
	}
	frame(away, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code)...)
	c.CloseWrite()
	io.Copy(io.Discard, c)
}
