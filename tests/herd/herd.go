//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// kinds are what the callers are: a command each, or calls of one process.
var kinds = []string{"commands", "go", "python", "node"}

const (
	driveVerb = "drive"
	firstUser = 60001 // of those that -users has
	// goalShare and goalLast are the goals: of all arrivals within 100 ms, and the
	// last one's time in the time that the server needs at least.
	goalShare, goalLast = 0.06, 1.2
	window              = 100 * time.Millisecond
	// patience is how long the callers may take, in the time that the server needs.
	patience = 5
)

type herd struct {
	tool         string
	counts       map[string]*int
	capacity     float64
	away         time.Duration
	kills, stops int
	users        int

	dir     string
	server  *server
	mu      sync.Mutex
	callers []*exec.Cmd
	over    map[int]bool // of them, by number
	killed  int
	stopped map[string]bool // callers that were stopped since the return
	failed  []string
	ended   sync.WaitGroup
}

type found struct {
	callers, served, killed int
	failed                  []string
	share, last             float64
	first                   time.Duration
	queue, arrivals, looks  int
	attempts                float64 // connections a second while it was away
}

func (h *herd) run() (*found, error) {
	if err := h.prepare(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(h.dir)
	defer h.kill()
	n := 0
	for _, kind := range kinds {
		if err := h.start(kind, *h.counts[kind]); err != nil {
			return nil, err
		}
		n += *h.counts[kind]
	}
	before, began := connections(), time.Now()
	h.disturb(h.away, map[string]bool{})
	rate := float64(connections()-before) / time.Since(began).Seconds()
	back, err := h.server.listen()
	if err != nil {
		return nil, err
	}
	needs := time.Duration(n) * h.server.each
	go h.disturb(needs, h.stopped)
	h.wait(max(patience*needs, time.Minute))
	f := h.judge(n, back)
	f.attempts = rate
	return f, nil
}

func (h *herd) prepare() (err error) {
	if h.server, err = newServer(h.capacity); err != nil {
		return err
	}
	if h.dir, err = os.MkdirTemp("", "herd"); err != nil {
		return err
	}
	if err := os.Chmod(h.dir, 0o755); err != nil || h.tool != "" {
		return err
	}
	h.tool = filepath.Join(h.dir, "outlast")
	build := exec.Command("./build.sh", "binary", h.tool)
	build.Stderr = os.Stderr
	return build.Run()
}

// start has callers of a kind wait. A command follows the other at some distance,
// as those of people and jobs do.
func (h *herd) start(kind string, n int) error {
	url := "http://" + h.server.address
	switch {
	case n == 0:
		return nil
	case kind == "go":
		return h.launch(os.Args[0], driveVerb, url, strconv.Itoa(n))
	case kind == "python":
		return h.launch("python/.venv/bin/python", "tests/herd/drive.py", url, strconv.Itoa(n))
	case kind == "node":
		return h.launch("node", "tests/herd/drive.mjs", url, strconv.Itoa(n))
	}
	for range n {
		err := h.launch(h.tool, "run", "-q", "--ready", url+"/healthz", "--", "curl", "-fsS", "-o", "/dev/null", url+"/data?caller="+strconv.Itoa(len(h.callers)))
		if err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func (h *herd) launch(path string, args ...string) error {
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HOME=/nonexistent")
	if h.users > 1 {
		uid := uint32(firstUser + len(h.callers)%h.users)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	number := len(h.callers)
	h.callers = append(h.callers, cmd)
	h.ended.Go(func() {
		err := cmd.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.over[number] = true
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			h.killed++
		} else if err != nil {
			h.failed = append(h.failed, fmt.Sprintf("%v: %s", err, said.String()))
		}
	})
	return nil
}

// wait waits for the callers, and kills those that take too long.
func (h *herd) wait(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	stop := context.AfterFunc(ctx, h.kill)
	h.ended.Wait()
	stop()
}

func (h *herd) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.callers {
		c.Process.Kill()
	}
}

func (h *herd) judge(n int, back time.Time) *found {
	s := h.server
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &found{
		callers: n, served: len(s.served), killed: h.killed, failed: h.failed,
		queue: s.longest, arrivals: len(s.arrivals), looks: s.looks,
	}
	if len(s.served) == 0 {
		return f
	}
	slices.SortFunc(s.arrivals, time.Time.Compare)
	most := 0
	for i, j := 0, 0; j < len(s.arrivals); j++ {
		for s.arrivals[j].Sub(s.arrivals[i]) >= window {
			i++
		}
		most = max(most, j-i+1)
	}
	f.share = float64(most) / float64(len(s.arrivals))
	f.first = s.arrivals[0].Sub(back)
	f.last = float64(h.lastUndisturbed().Sub(back)) / float64(time.Duration(len(s.served))*s.each)
	return f
}

// lastUndisturbed is when the last was served that nobody has stopped since the
// return: one that has been stopped is late by that alone.
func (h *herd) lastUndisturbed() (last time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.server.served {
		if !h.stopped[a.caller] {
			last = a.at
		}
	}
	return last
}

func (f *found) isGood() bool {
	return len(f.failed) == 0 && f.served+f.killed >= f.callers && f.share <= goalShare && f.last <= goalLast
}

func (f *found) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d callers: %d requests served of %d, %d processes killed, %d failed\n", f.callers, f.served, f.arrivals, f.killed, len(f.failed))
	fmt.Fprintf(&b, "at most %.1f %% of the arrivals within 100 ms (goal: %.0f %%), %d in the server's queue\n", 100*f.share, 100*goalShare, f.queue)
	fmt.Fprintf(&b, "the first after %.3f s, the last served after %.2f of the time that the server needs (goal: %.1f)\n", f.first.Seconds(), f.last, goalLast)
	fmt.Fprintf(&b, "%.0f connections a second while it was away, %d looks at its health since\n", f.attempts, f.looks)
	for _, text := range f.failed[:min(3, len(f.failed))] {
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

// connections is how many TCP connections have been begun in this network
// namespace.
func connections() (n int64) {
	text, _ := os.ReadFile("/proc/net/snmp")
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if fields[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		n, _ = strconv.ParseInt(fields[slices.Index(names, "ActiveOpens")], 10, 64)
	}
	return n
}
