// Package goodput measures how much a server does that comes back to a crowd of
// calls, and how they come to it. The server and the callers are real processes, and
// their times those of the wall clock.
package goodput

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Trial is one outage, for one loop.
type Trial struct {
	Loop     string // a key of Loops
	Address  string // where the server listens
	Capacity int    // requests a second that it serves
	// Offered is how many calls begin, in those that the server can serve.
	Offered float64
	// Before, Away and After are how long the server is there, is away, and is there
	// again.
	Before, Away, After time.Duration
}

// The first arguments of a program that Child makes one side of a trial.
const (
	serverVerb = "goodput-server"
	callerVerb = "goodput-callers"
)

// Child carries out one side of a trial where the program's arguments ask for it, and
// says whether they do. The program's main, or its TestMain, calls it first.
func Child() bool {
	if len(os.Args) < 2 || os.Args[1] != serverVerb && os.Args[1] != callerVerb {
		return false
	}
	side := serve
	if os.Args[1] == callerVerb {
		side = call
	}
	if err := side(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
		os.Exit(1)
	}
	return true
}

// Run carries the trial out.
func (t *Trial) Run() (*Figures, error) {
	first, err := start(serverVerb, t.Address, strconv.Itoa(t.Capacity))
	if err != nil {
		return nil, err
	}
	callers, err := start(callerVerb, t.Loop, t.Address, strconv.FormatFloat(t.Offered*float64(t.Capacity), 'g', -1, 64))
	if err != nil {
		first.kill()
		return nil, err
	}
	time.Sleep(t.Before)
	first.kill()
	time.Sleep(t.Away)
	server, err := start(serverVerb, t.Address, strconv.Itoa(t.Capacity))
	if err != nil {
		callers.kill()
		return nil, err
	}
	time.Sleep(t.After)
	var calls []ended
	var saw seen
	if err := server.end(&saw); err != nil { // before the callers leave
		callers.kill()
		return nil, err
	}
	if err := callers.end(&calls); err != nil {
		return nil, err
	}
	return t.figures(calls, &saw), nil
}

// side is a process of a trial.
type side struct {
	process *exec.Cmd
	in      io.Closer
	out     io.Reader
}

func start(args ...string) (*side, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &side{process: exec.Command(program, args...)}
	s.process.Stderr = os.Stderr
	if s.in, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.process.StdoutPipe(); err != nil {
		return nil, err
	}
	return s, s.process.Start()
}

func (s *side) kill() {
	s.process.Process.Kill()
	s.process.Wait()
}

// end has it tell what it counted.
func (s *side) end(counted any) error {
	s.in.Close()
	if err := json.NewDecoder(s.out).Decode(counted); err != nil {
		s.kill()
		return fmt.Errorf("%s: %w", s.process.Args[1], err)
	}
	return s.process.Wait()
}

// untilEnd waits for the end of standard input, and writes what was counted.
func untilEnd(counted func() any) error {
	io.Copy(io.Discard, os.Stdin)
	return json.NewEncoder(os.Stdout).Encode(counted())
}
