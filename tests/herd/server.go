//go:build linux

package main

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// server serves one request after another, and each in the same time. A look at
// its health costs it nothing.
type server struct {
	address string
	each    time.Duration

	mu       sync.Mutex
	free     time.Time   // when it could serve the next
	arrivals []time.Time // of requests
	served   []answer
	queue    int
	longest  int
	looks    int
}

// answer is when a caller was answered. Calls of a process have no name.
type answer struct {
	at     time.Time
	caller string
}

// newServer chooses an address where nobody listens yet.
func newServer(capacity float64) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return &server{address: l.Addr().String(), each: time.Duration(float64(time.Second) / capacity)}, nil
}

// listen begins to serve: the server is back.
func (s *server) listen() (back time.Time, err error) {
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		return time.Time{}, err
	}
	go http.Serve(l, s)
	return time.Now(), nil
}

func (s *server) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		s.mu.Lock()
		s.looks++
		s.mu.Unlock()
		return
	}
	time.Sleep(time.Until(s.enter()))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue--
	s.served = append(s.served, answer{time.Now(), r.URL.Query().Get("caller")})
}

// enter gives the time at which a request that has just come is served.
func (s *server) enter() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.arrivals = append(s.arrivals, now)
	s.queue++
	s.longest = max(s.longest, s.queue)
	if s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(s.each)
	return s.free
}
