package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server has what probes ask for, by the path:
//
//	/broke/KEY  reads the request and closes the connection
//	/moved/KEY  redirects, with 303, to a port where nobody listens
//	/busy/KEY   answers 503 with Retry-After: 1, and the next time 200
//	/count/…    how often that path was asked
//	/gap/…      the seconds between its first two requests
//	/away       a port of 127.0.0.1 where a server listens a second later
type server struct {
	dead string // a URL where nobody listens

	mu   sync.Mutex // guards came
	came map[string][]time.Time
}

// awayFor is how long a port of /away is away.
const awayFor = time.Second

// start serves until the program ends, and gives its URL.
func start() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	dead, _, err := bound()
	if err != nil {
		return "", err
	}
	s := &server{dead: fmt.Sprintf("http://127.0.0.1:%d/", dead), came: map[string][]time.Time{}}
	go http.Serve(listener, s)
	return "http://" + listener.Addr().String(), nil
}

// bound takes a port on which it does not listen.
func bound() (port, socket int, err error) {
	socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, 0, err
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, 0, err
	}
	return name.(*syscall.SockaddrInet4).Port, socket, nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	switch verb, rest, _ := strings.Cut(r.URL.Path[1:], "/"); verb {
	case "count":
		fmt.Fprint(w, len(s.of(rest)))
	case "gap":
		came := s.of(rest)
		fmt.Fprint(w, came[1].Sub(came[0]).Seconds())
	case "away":
		s.away(w)
	case "broke":
		s.note(r)
		panic(http.ErrAbortHandler)
	case "moved":
		s.note(r)
		http.Redirect(w, r, s.dead, http.StatusSeeOther)
	case "busy":
		if s.note(r) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// note keeps that a path was asked, and says how often by now.
func (s *server) note(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.URL.Path[1:]
	s.came[key] = append(s.came[key], time.Now())
	return len(s.came[key])
}

func (s *server) of(key string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came[key]
}

func (s *server) away(w http.ResponseWriter) {
	port, socket, err := bound()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, port)
	time.AfterFunc(awayFor, func() {
		file := os.NewFile(uintptr(socket), "socket")
		defer file.Close()
		if syscall.Listen(socket, syscall.SOMAXCONN) != nil {
			return
		}
		if listener, err := net.FileListener(file); err == nil {
			http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "back") }))
		}
	})
}
