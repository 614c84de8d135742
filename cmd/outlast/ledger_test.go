//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"outlast/abi"
)

// ledgerCalls is how many writes the test makes, each of its own server.
const ledgerCalls = 1000

// TestNoWriteIsAppliedTwice wraps real clients whose real servers are killed
// somewhere in the write, or are away when it starts, and come back. Whatever
// happens, a write is in the ledger once at most, and what the user is told of
// it is true.
func TestNoWriteIsAppliedTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand real writes")
	}
	dir := t.TempDir()
	tool, ledger := goBuild(t, filepath.Join(dir, "outlast"), "."), goBuild(t, filepath.Join(dir, "omnigraph"), "./testdata/ledger")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	var running sync.WaitGroup
	slots := make(chan struct{}, 16) // they wait most of the time
	seen := newTally()
	for i := range ledgerCalls {
		call := &ledgerCall{
			tool: tool, program: ledger, number: i,
			file: filepath.Join(dir, fmt.Sprint("ledger", i)), report: filepath.Join(dir, fmt.Sprint("report", i)),
			phase: ledgerPhases[random.IntN(len(ledgerPhases))],
			away:  time.Duration(random.IntN(1500)) * time.Millisecond,
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if err := call.run(seen); err != nil {
				t.Errorf("call %d, killed when %s, away for %v: %v", i, call.phase, call.away, err)
			}
		})
	}
	running.Wait()
	t.Logf("%v", seen.count)
	for _, phase := range ledgerPhases {
		if seen.count[phase] == nil {
			t.Errorf("no call met a server killed when %s", phase)
		}
	}
}

// ledgerPhases are where a server dies; "away" is one that is not there when
// the call begins.
var ledgerPhases = []string{"away", "connected", "read", "written", "answering", "never"}

// tally counts the outcomes by phase.
type tally struct {
	mu    sync.Mutex
	count map[string]map[abi.OutcomeType]int
}

func newTally() *tally { return &tally{count: map[string]map[abi.OutcomeType]int{}} }

func (s *tally) add(phase string, o abi.OutcomeType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[phase] == nil {
		s.count[phase] = map[abi.OutcomeType]int{}
	}
	s.count[phase][o]++
}

type ledgerCall struct {
	tool, program, file, report string
	number                      int
	phase                       string
	away                        time.Duration // how long the server is gone
}

func (c *ledgerCall) run(seen *tally) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	stop, server := make(chan struct{}), make(chan error, 1)
	ready := make(chan struct{})
	go func() { server <- c.serve(address, ready, stop) }()
	if c.phase != "away" {
		select {
		case <-ready:
		case err := <-server:
			return err
		}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(c.tool, "run", "--ready", "off", "--report", c.report, "--",
		c.program, "mutate", fmt.Sprint(c.number), "--server", "http://"+address)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	close(stop)
	if broken := <-server; broken != nil {
		return broken
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if err := c.judge(cmd.ProcessState.ExitCode(), stdout.String(), seen); err != nil {
		return fmt.Errorf("%w\nstdout: %sstderr: %s", err, &stdout, &stderr)
	}
	return nil
}

// serve runs the server, which dies once where it shall, and another after it.
func (c *ledgerCall) serve(address string, ready chan<- struct{}, stop <-chan struct{}) error {
	phases := []string{c.phase, "never"}
	if c.phase == "away" {
		phases = phases[1:]
		pause(c.away, stop)
	}
	for i, phase := range phases {
		ended, err := c.start(address, phase, stop)
		if err != nil {
			return err
		}
		if i == 0 {
			close(ready)
		}
		<-ended
		pause(c.away, stop)
	}
	return nil
}

func pause(d time.Duration, stop <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-stop:
	}
}

// start starts one server process, which stop kills, and waits until it listens.
func (c *ledgerCall) start(address, phase string, stop <-chan struct{}) (ended chan struct{}, err error) {
	cmd := exec.Command(c.program, "serve", address, c.file, phase)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		cmd.Wait()
		return nil, fmt.Errorf("the server at %s did not start: %w", address, err)
	}
	ended = make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	go func() {
		select {
		case <-stop:
			cmd.Process.Kill()
		case <-ended:
		}
	}()
	return ended, nil
}

// judge compares what the user was told with what the ledger holds.
func (c *ledgerCall) judge(exit int, stdout string, seen *tally) error {
	var report struct {
		Outcome abi.OutcomeType `json:"outcome"`
		Effects abi.Effects     `json:"effects"`
	}
	text, err := os.ReadFile(c.report)
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	seen.add(c.phase, report.Outcome)
	entries, err := os.ReadFile(c.file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	applied := strings.Count(string(entries), "\n")
	switch {
	case applied > 1:
		return fmt.Errorf("the write was applied %d times", applied)
	case (exit == 0) != (report.Outcome == abi.OutcomeOK):
		return fmt.Errorf("exit code %d with outcome %s", exit, report.Outcome)
	case exit == 0 && (applied != 1 || stdout != "written\n"):
		return fmt.Errorf("said to have succeeded, but was applied %d times and answered %q", applied, stdout)
	case exit != 0 && applied == 1 && report.Effects != abi.EffectsUnknown:
		return fmt.Errorf("outcome %s says effects %q, but the write was applied", report.Outcome, report.Effects)
	case exit != 0 && (c.phase == "away" || c.phase == "never"):
		return fmt.Errorf("outcome %s, but a server that is away, or never dies, is outlasted", report.Outcome)
	}
	return nil
}

// address is one where nobody listens now, and nobody else will: on Linux, an
// address of its own on loopback for each call.
func (c *ledgerCall) address() (string, error) {
	host := "127.0.0.1:0"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.77.%d.%d:0", c.number/250, c.number%250+1)
	}
	listener, err := net.Listen("tcp", host)
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
