// Package life starts servers that stand in for omnigraph's, and takes them away.
package life

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// House is where one server lives, again and again.
type House struct {
	Program string // omnigraph-server
	Address string
	Release string
	Ledger  string // the file of what was applied
}

// FreeAddress is one on loopback where nobody listens.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// Server is one process.
type Server struct {
	process *exec.Cmd
	ended   chan struct{}

	mu    sync.Mutex
	ready time.Time     // when its graphs were open, by its own clock
	is    chan struct{} // closed then
	binds chan struct{} // closed when it listens
	works chan struct{} // closed when it has a first data request
	once  sync.Once
}

// Start starts a server with more flags, such as -loading 1s.
func (h *House) Start(flags ...string) (*Server, error) {
	args := append([]string{"-bind", h.Address, "-release", h.Release, "-ledger", h.Ledger}, flags...)
	s := &Server{process: exec.Command(h.Program, args...), ended: make(chan struct{}), is: make(chan struct{}), binds: make(chan struct{}), works: make(chan struct{})}
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.heard(lines.Text())
		}
		s.process.Wait()
	}()
	return s, nil
}

func (s *Server) heard(line string) {
	if strings.HasPrefix(line, "OMNIGRAPH_LISTEN_ADDR=") {
		close(s.binds)
	}
	if strings.HasPrefix(line, "WORK ") {
		s.once.Do(func() { close(s.works) })
	}
	if nanos, ok := strings.CutPrefix(line, "READY "); ok {
		n, _ := strconv.ParseInt(nanos, 10, 64)
		s.mu.Lock()
		s.ready = time.Unix(0, n)
		s.mu.Unlock()
		close(s.is)
	}
}

// Listening waits until it listens.
func (s *Server) Listening() error { return s.await(s.binds, "listened") }

// Working waits until it has a data request that it does not refuse.
func (s *Server) Working() error { return s.await(s.works, "had a request") }

// Ready waits until its graphs are open, and says since when they are.
func (s *Server) Ready() (time.Time, error) {
	err := s.await(s.is, "was ready")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready, err
}

// patience is when a server that does not start is given up.
const patience = 2 * time.Minute

func (s *Server) await(done chan struct{}, what string) error {
	select {
	case <-done:
		return nil
	case <-s.ended:
		select { // it said so before it ended
		case <-done:
			return nil
		default:
			return fmt.Errorf("the server ended before it %s: %v", what, s.process.ProcessState)
		}
	case <-time.After(patience):
		return errors.New("the server took too long before it " + what)
	}
}

// Kill ends it at once, and waits for that.
func (s *Server) Kill() {
	s.process.Process.Kill()
	<-s.ended
}

// Terminate asks it to stop, as a supervisor does.
func (s *Server) Terminate() error { return s.process.Process.Signal(syscall.SIGTERM) }

// Wait waits for its end, and is its exit code; -1 for a signal.
func (s *Server) Wait() int {
	<-s.ended
	return s.process.ProcessState.ExitCode()
}

// Applied says how often each write was applied.
func (h *House) Applied() (map[string]int, error) {
	text, err := os.ReadFile(h.Ledger)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		count[strings.TrimSuffix(line, "\n")]++
	}
	return count, nil
}
