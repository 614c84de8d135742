//go:build unix

package link

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"outlast/internal/standin"
)

// server has a ledger: each write that reaches it is a line.
type server struct {
	t      *testing.T
	addr   string
	server *http.Server
	life   *standin.Server // what it says of itself
	stamp  string          // its contract; empty before 0.12

	mu     sync.Mutex
	ledger []string
	cut    bool   // close the connection in place of an answer
	refuse string // say this, with the status before it
}

// newServer has an address, and does not listen yet.
func newServer(t *testing.T, release string) *server {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	probe.Close()
	s := &server{t: t, addr: probe.Addr().String(), life: &standin.Server{}}
	if s.life.Release, err = standin.ParseRelease(release); err != nil {
		t.Fatal(err)
	}
	s.life.SetReady()
	if release != "0.10" {
		s.stamp = release
	}
	s.server = &http.Server{Handler: s}
	t.Cleanup(func() { s.server.Close() })
	return s
}

func (s *server) url() string { return "http://" + s.addr }

func (s *server) listen() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Error(err)
		return
	}
	go s.server.Serve(listener)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "z") { // /healthz, /readyz
		s.life.ServeHTTP(w, r)
		return
	}
	if s.stamp != "" {
		w.Header().Set("omnigraph-http-api", s.stamp)
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != "" {
		var status int
		fmt.Sscan(s.refuse, &status)
		_, text, _ := strings.Cut(s.refuse, " ")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q}`, text)
		s.ledger = append(s.ledger, "refused")
		return
	}
	if strings.HasSuffix(r.URL.Path, "/mutate") {
		s.ledger = append(s.ledger, string(body))
	}
	if s.cut {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprintln(w, `{"rows":[{"p.slug":"ada"}],"columns":["p.slug"]}`)
}

func (s *server) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.ledger...)
}
