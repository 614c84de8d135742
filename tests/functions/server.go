//go:build unix

package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server counts what it applies, and fails at random.
type server struct {
	seed      uint64
	address   string
	url, dead string         // itself, and a port where nobody ever listens
	late      sync.WaitGroup // what may still be applied

	mu       sync.Mutex // guards what follows
	random   *rand.Rand // of moments
	slamming bool       // each connection is closed at once
	open     map[net.Conn]*request
	parts    map[string]*part   // by id and number
	moments  map[string][]int64 // when a connection broke that no request tells of: of a client, or "" of any
	met      map[string]int     // faults, and what is no request's: by name
}

// part is a request of a call, in all attempts.
type part struct {
	applied []string // in which attempts
	came    int      // requests
	broken  int      // connections that broke when it had come
	final   bool     // a read may end with what it met
	random  *rand.Rand
}

// request is one that came.
type request struct {
	*http.Request
	client, kind, id, number, attempt string
}

// refuser is the kind of a write to a server that refuses before it acts.
const refuser = "k"

func newServer(seed uint64) (*server, error) {
	s := &server{
		seed: seed, random: rand.New(rand.NewPCG(seed, 1<<32)), open: map[net.Conn]*request{},
		parts: map[string]*part{}, moments: map[string][]int64{}, met: map[string]int{},
	}
	dead, err := deadPort()
	s.dead = fmt.Sprintf("http://127.0.0.1:%d", dead)
	if err != nil {
		return nil, err
	}
	// Not among the ports that connections start from: one could else start from this
	// port while nobody listens there, and be connected with itself.
	for range 100 {
		s.address = fmt.Sprintf("127.0.0.1:%d", 20_000+s.upTo(10_000))
		listener, err := net.Listen("tcp", s.address)
		if err == nil {
			s.url = "http://" + s.address
			return s, listener.Close()
		}
	}
	return nil, fmt.Errorf("no port below 30000 is free")
}

// deadPort takes a port, and does not listen there.
func deadPort() (int, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	return name.(*syscall.SockaddrInet4).Port, nil
}

func (s *server) upTo(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *server) ms(least, most int) time.Duration {
	return time.Duration(least+s.upTo(most-least)) * time.Millisecond
}

// keep listens, but for random moments.
func (s *server) keep(stop <-chan struct{}) error {
	for {
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			return err
		}
		go s.accept(listener)
		stopped := wait(stop, s.ms(100, 600))
		if !stopped && s.upTo(4) == 0 {
			s.slam(true)
			stopped = wait(stop, s.ms(20, 250))
			s.slam(false)
		}
		listener.Close()
		if stopped {
			return nil
		}
		if s.upTo(4) > 0 {
			s.die()
		}
		s.note("", "the listener closed")
		stopped = wait(stop, s.ms(20, 350))
		s.note("", "") // whatever waited to be accepted was reset, up to now
		if stopped {
			return nil
		}
	}
}

func wait(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return true
	case <-time.After(d):
		return false
	}
}

func (s *server) slam(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slamming = on
}

// die resets all connections, whatever they are at.
func (s *server) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, r := range s.open {
		reset(c)
		if r != nil {
			s.parts[r.part()].broken++
			s.met["reset as the server died"]++
		}
	}
	s.moments[""] = append(s.moments[""], time.Now().UnixMilli())
}

// note keeps when something happened that no single request tells of.
func (s *server) note(client, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moments[client] = append(s.moments[client], time.Now().UnixMilli())
	if what != "" {
		s.met[what]++
	}
}

func (s *server) accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		slams := s.slamming || s.random.IntN(60) == 0
		if !slams {
			s.open[c] = nil
		}
		s.mu.Unlock()
		if slams {
			c.Close()
			s.note("", "accepted, and closed at once")
			continue
		}
		s.late.Go(func() { s.connection(c) })
	}
}

func (s *server) connection(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		c.Close()
	}()
	reader := bufio.NewReader(c)
	for {
		plain, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		// /LANGUAGE/CLIENT/KIND/ID/NUMBER/ATTEMPT
		p := strings.Split(plain.URL.Path, "/")
		if len(p) != 7 {
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return
		}
		r := &request{Request: plain, client: p[2], kind: p[3], id: p[4], number: p[5], attempt: p[6]}
		f, acts := s.draw(c, r)
		if !f.do(&exchange{s, c, r, acts}) {
			return
		}
		s.mu.Lock()
		s.open[c] = nil
		drops := s.random.IntN(8) == 0
		s.mu.Unlock()
		if drops {
			time.Sleep(s.ms(0, 30))
			s.note(r.client, "a kept connection dropped")
			return
		}
	}
}

func (r *request) part() string { return r.id + "/" + r.number }

// draw says what becomes of a request, by the seed and how many came of its part.
func (s *server) draw(c net.Conn, r *request) (f *fault, acts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = r
	p := s.parts[r.part()]
	if p == nil {
		hash := fnv.New64a()
		io.WriteString(hash, r.part())
		p = &part{random: rand.New(rand.NewPCG(s.seed, hash.Sum64()))}
		s.parts[r.part()] = p
	}
	p.came++
	f = &answers
	if p.came <= worst && p.random.IntN(100) < 45 {
		f = &faults[p.random.IntN(len(faults))]
		name := f.name
		if acts = f.acts == always || f.acts == perhaps && p.random.IntN(2) == 0 && (r.kind != refuser || !f.refusal); acts {
			name += ", applied"
		}
		s.met[name]++
	}
	acts = acts || f == &answers
	if f.broken {
		p.broken++
	}
	p.final = p.final || f.final || f.redirect && followsNone[r.client] || f.cut && r.client == xmlrpc
	return f, acts
}

// worst is after how many requests of a part nothing happens any more.
const worst = 3

// apply enters a write in the ledger.
func (s *server) apply(r *request) {
	if r.kind == "r" || r.Method != http.MethodPost {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[r.part()]
	p.applied = append(p.applied, r.attempt)
}
