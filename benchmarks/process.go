package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// server is one server process at a time, at one address.
type server struct {
	program, address string
	process          *exec.Cmd
	applied          map[string]int // writes, by their graph; whole once it is stopped
	read             sync.WaitGroup
}

// start gives the moment from which it accepts.
func (s *server) start() (up time.Time, err error) {
	s.process = exec.Command(s.program, s.address)
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return up, err
	}
	if err := s.process.Start(); err != nil {
		return up, err
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	nanos, err := strconv.ParseInt(lines.Text(), 10, 64)
	if err != nil {
		return up, fmt.Errorf("the server said %q", lines.Text())
	}
	s.read.Go(func() {
		for lines.Scan() {
			s.applied[strings.Split(lines.Text(), "/")[2]]++
		}
	})
	return time.Unix(0, nanos), nil
}

func (s *server) stop() {
	s.process.Process.Kill()
	s.read.Wait()
	s.process.Wait()
}

var ports struct {
	mu   sync.Mutex
	next int
}

// freeAddress is one below the ports that outgoing connections use, so that none
// of them has it while the server is away.
func freeAddress() (string, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for ports.next = max(ports.next, 20_000); ports.next < 32_000; {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports.next))
		ports.next++
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("no port from 20000 to 31999 is free")
}

// witan is the process that makes calls with witan-core.
type witan struct {
	in   io.WriteCloser
	mu   sync.Mutex
	ends map[string]chan error // by graph
	wait func() error
}

// startWitan starts it; the error says why witan-core cannot be had.
func (b *bench) startWitan() (*witan, error) {
	process := exec.Command("python3", "witan.py", b.at("witan"))
	process.Env = append(os.Environ(), b.env()...)
	w := &witan{ends: map[string]chan error{}, wait: process.Wait}
	var stderr bytes.Buffer
	process.Stderr = &stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if w.in, err = process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		process.Wait()
		said := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return nil, errors.New(said[len(said)-1])
	}
	go func() {
		for lines.Scan() {
			id, end, _ := strings.Cut(lines.Text(), " ")
			var err error
			if end != "ok" {
				err = errors.New(end)
			}
			w.end(id) <- err
		}
	}()
	return w, nil
}

func (w *witan) end(id string) chan error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends[id] == nil {
		w.ends[id] = make(chan error, 1)
	}
	return w.ends[id]
}

func (w *witan) call(call, address, id string, patience <-chan time.Time) error {
	kind := map[string]string{"query": "read", "mutate": "write"}[call]
	if _, err := fmt.Fprintln(w.in, kind, "http://"+address, id); err != nil {
		return err
	}
	select {
	case err := <-w.end(id):
		return err
	case <-patience:
		return errors.New("it goes on")
	}
}
