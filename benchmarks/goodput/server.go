package goodput

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// server serves one request after another, and each in the same time. As many wait as
// it serves in a second; any more are answered 503 at once, which costs it nothing.
type server struct {
	capacity int

	mu    sync.Mutex
	free  time.Time // when it could serve the next
	queue int
	seen  seen
}

// seen is what a server saw; times are in nanoseconds of the wall clock.
type seen struct {
	Up      int64
	Came    []int64 // requests
	Queue   []int   // that each of them met
	Refused int     // with 503
	Left    int     // whose caller had gone when they were served
}

func serve(args []string) error {
	capacity, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	s := &server{capacity: capacity, seen: seen{Up: time.Now().UnixNano()}}
	go http.Serve(l, s)
	return untilEnd(func() any {
		s.mu.Lock() // for good: the process ends
		return &s.seen
	})
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, free := s.enter(time.Now())
	if !free {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	time.Sleep(time.Until(at))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue--
	if r.Context().Err() != nil {
		s.seen.Left++
	}
}

// enter gives the time at which a request that has just come is served; false: there
// is no room for it.
func (s *server) enter(now time.Time) (at time.Time, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Came = append(s.seen.Came, now.UnixNano())
	s.seen.Queue = append(s.seen.Queue, s.queue)
	if s.queue >= s.capacity {
		s.seen.Refused++
		return at, false
	}
	s.queue++
	if s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Second / time.Duration(s.capacity))
	return s.free, true
}
