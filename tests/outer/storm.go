//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// storm is one run of all writes.
type storm struct {
	outlast        string
	writes, atOnce int
	journal        bool
	seed           uint64

	self, dir, address, url string
	mu                      sync.Mutex // guards what follows
	random                  *rand.Rand
	told                    map[string]told
	kills                   map[string]int
}

// told is what a layer was told of a write in the end.
type told struct {
	layer string
	code  int
	runs  int
}

func (s *storm) run() (*found, error) {
	var err error
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if s.outlast, err = filepath.Abs(s.outlast); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "outer-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.dir)
	program, err := os.ReadFile(s.self)
	if err == nil {
		err = os.WriteFile(s.client(), program, 0o700)
	}
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = listener.Addr().String()
	s.url = "http://" + s.address
	listener.Close()
	s.random, s.told, s.kills = rand.New(rand.NewPCG(s.seed, 0)), map[string]told{}, map[string]int{}

	began, stop := time.Now(), make(chan struct{})
	server := make(chan error, 1)
	go func() { server <- s.keepServer(stop) }()
	var running sync.WaitGroup
	slots := make(chan struct{}, s.atOnce)
	for i := range s.writes {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			s.layered(i)
		})
	}
	running.Wait()
	close(stop)
	if err := <-server; err != nil {
		return nil, err
	}
	time.Sleep(50 * time.Millisecond) // a client whose outlast was killed may still write
	return s.judge(time.Since(began))
}

// layered carries out one write, as its layer would.
func (s *storm) layered(i int) {
	kinds := layers
	if !s.journal {
		kinds = plain
	}
	l, id := kinds[i%len(kinds)], fmt.Sprint("w", i)
	t := told{layer: l.name}
	for t.runs < l.most {
		t.runs++
		t.code = s.once(id)
		if t.code == 0 || !l.again(t.code) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[id] = t
}

// once runs outlast once, and kills what chance says. It gives the exit code, -1
// after a SIGKILL.
func (s *storm) once(id string) int {
	args := []string{"run", "-q", "--ready", "off", "--max-wait", "3s", "--exhausted-code", strconv.Itoa(codeExhausted)}
	if s.journal {
		args = append(args, "--indeterminate-code", strconv.Itoa(codeInDoubt), "--journal", filepath.Join(s.dir, "journal"), "--journal-key", id)
	}
	cmd := exec.Command(s.outlast, append(args, "--", s.client(), "mutate", "--server", s.url, id)...)
	cmd.Env = os.Environ()
	what := s.chance()
	if what == "command" {
		cmd.Env = append(cmd.Env, dieVar+"="+strconv.Itoa(s.upTo(15_000)))
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "outer:", err)
		return 127
	}
	if what == "outlast" || what == "all" {
		timer := time.AfterFunc(time.Duration(s.upTo(60_000))*time.Microsecond, func() { s.kill(cmd.Process, what == "all") })
		defer timer.Stop()
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 127
	}
	return cmd.ProcessState.ExitCode()
}

// chance is what is killed in a run: outlast alone, which leaves the command
// running, all of it, as with a pod, the command, or nothing.
func (s *storm) chance() string {
	n := s.upTo(100)
	for _, c := range []struct {
		below int
		what  string
	}{{15, "outlast"}, {30, "all"}, {40, "command"}} {
		if n < c.below {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.kills[c.what]++
			return c.what
		}
	}
	return ""
}

func (s *storm) upTo(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// kill kills outlast, and with all what it has started.
func (s *storm) kill(p *os.Process, all bool) {
	children := ""
	if all {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.Pid, p.Pid))
		children = string(text)
	}
	p.Kill()
	for _, child := range strings.Fields(children) {
		if pid, err := strconv.Atoi(child); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// keepServer keeps the server up, but for random moments.
func (s *storm) keepServer(stop <-chan struct{}) error {
	for {
		cmd := exec.Command(s.self, "serve", s.address, s.ledger())
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return err
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			cmd.Wait()
			return fmt.Errorf("the server did not start: %w", err)
		}
		stopped := wait(stop, time.Duration(100+s.upTo(900))*time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if stopped {
			return nil
		}
		s.mu.Lock()
		s.kills["server"]++
		s.mu.Unlock()
		time.Sleep(time.Duration(s.upTo(150)) * time.Millisecond)
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

// client is the command's name: what it prints is judged by omnigraph's policy.
const client = "omnigraph"

func (s *storm) client() string { return filepath.Join(s.dir, client) }

func (s *storm) ledger() string { return filepath.Join(s.dir, "ledger") }
