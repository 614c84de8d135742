package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// run is one run of everything.
type run struct {
	checkout   string
	requests   int
	over, away time.Duration
	seed       uint64
}

// client is what makes calls, in the driver of its language.
type client struct {
	language, name string
	outlast        bool // with a transport of outlast's
	bare           bool // which tries nothing again
}

var clients = []client{
	{language: "Go", name: "httpretry", outlast: true},
	{language: "Python", name: "httpx", outlast: true},
	{language: "Python", name: "httpx, async", outlast: true},
	{language: "Python", name: "requests", outlast: true},
	{language: "Python", name: "aiohttp", outlast: true},
	{language: "Node", name: "undici", outlast: true},
	{language: "Node", name: "fetch", outlast: true},
	{language: "Go", name: "go-retryablehttp"},
	{language: "Python", name: "httpx-retries"},
	{language: "Python", name: "urllib3 Retry"},
	{language: "Node", name: "undici RetryAgent"},
	{language: "Go", name: "net/http", bare: true},
	{language: "Python", name: "httpx alone", bare: true},
	{language: "Node", name: "fetch alone", bare: true},
}

// call is one call, as its driver is told of it.
type call struct {
	ID     string `json:"id"`
	Client string `json:"client"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Key    string `json:"key"` // its Idempotency-Key, or ""
	At     int64  `json:"at"`  // when it begins, in milliseconds since 1970
}

// told is what a driver was told of a call in the end.
type told struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"` // answered, indeterminate, or raised
	Message string `json:"message"`
	From    int64  `json:"from"` // when it began and ended, in milliseconds since 1970
	To      int64  `json:"to"`
}

const (
	answered      = "answered"
	indeterminate = "indeterminate"
)

// plan draws the calls of a client: half of them reads, and a fifth of all slow.
func (r *run) plan(number int, began time.Time) []call {
	random := rand.New(rand.NewPCG(r.seed, uint64(number)))
	calls := make([]call, r.requests)
	for i := range calls {
		id := fmt.Sprintf("%d-%d", number, i)
		c := call{ID: id, Client: clients[number].name, Method: "GET", Path: "/items/" + id}
		switch n := random.IntN(100); {
		case n < 15:
			c.Method = "PUT"
		case n < 25:
			c.Method = "DELETE"
		case n < 40:
			c.Method, c.Path = "POST", "/notes/"+id
		case n < 50:
			c.Method, c.Path, c.Key = "POST", "/orders/"+id, "key-"+id
		}
		if random.IntN(5) == 0 {
			c.Path += "?slow=1"
		}
		c.At = began.Add(r.over * time.Duration(i) / time.Duration(r.requests)).UnixMilli()
		calls[i] = c
	}
	return calls
}

// restarted is when a service was away.
type restarted struct{ gone, back int64 }

// measured is what came of one service.
type measured struct {
	service  string
	calls    [][]call // by client
	told     map[string]told
	applied  map[string]int // by ID
	restarts []restarted
}

func (r *run) all() ([]*measured, error) {
	var all []*measured
	for _, name := range services {
		m, err := r.measure(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// measure lets all clients call a service that is killed once, and once asked to end.
func (r *run) measure(name string) (*measured, error) {
	dir, err := os.MkdirTemp("", "services-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	service, err := r.service(name, dir)
	if err != nil {
		return nil, err
	}
	if _, err := service.start(); err != nil {
		return nil, err
	}
	defer func() { service.stop(syscall.SIGKILL) }()

	m := &measured{service: name, told: map[string]told{}, applied: map[string]int{}}
	began := time.Now().Add(settling)
	for number := range clients {
		m.calls = append(m.calls, r.plan(number, began))
	}
	var failed error
	var mu sync.Mutex // guards failed and m.told
	var running sync.WaitGroup
	for _, language := range []string{"Go", "Python", "Node"} {
		running.Go(func() {
			lines, err := r.driven(language, service.url, m.calls)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			for _, t := range lines {
				m.told[t.ID] = t
			}
		})
	}
	for i, by := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		time.Sleep(time.Until(began.Add(r.over * time.Duration(2*i+1) / 4)))
		gone := service.stop(by)
		time.Sleep(r.away)
		back, err := service.start()
		if err != nil {
			return nil, err
		}
		m.restarts = append(m.restarts, restarted{gone.UnixMilli(), back.UnixMilli()})
	}
	running.Wait()
	if failed != nil {
		return nil, failed
	}
	entries, err := readLedger(service.ledger)
	for _, e := range entries {
		m.applied[e.id]++
	}
	return m, err
}

// settling is what the drivers have to load their packages in, before the first call.
const settling = 5 * time.Second

// driven makes the calls of the clients of a language, and gives what they were told.
func (r *run) driven(language, url string, calls [][]call) ([]told, error) {
	var in bytes.Buffer
	for number, c := range clients {
		if c.language != language {
			continue
		}
		for _, one := range calls[number] {
			if err := json.NewEncoder(&in).Encode(one); err != nil {
				return nil, err
			}
		}
	}
	here := filepath.Join(r.checkout, "tests", "services")
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := map[string][]string{
		"Go":     {self, driveVerb},
		"Python": {r.python(), filepath.Join(here, "drive.py")},
		"Node":   {"node", filepath.Join(here, "drive.mjs")},
	}[language]
	cmd := exec.Command(argv[0], append(argv[1:], url)...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the driver of %s: %w", language, err)
	}
	var all []told
	for line := range strings.Lines(string(out)) {
		var t told
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return nil, fmt.Errorf("the driver of %s printed %q: %w", language, line, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// python must not be made absolute by its links: they say which packages it has.
func (r *run) python() string { return filepath.Join(r.checkout, "python", ".venv", "bin", "python") }

// lacking is what a run needs and this checkout has not, if anything.
func (r *run) lacking() string {
	for _, file := range []string{r.python(), filepath.Join(r.checkout, "js", "dist", "index.js"), filepath.Join(r.checkout, "js", "node_modules", "express")} {
		if _, err := os.Stat(file); err != nil {
			return err.Error()
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		return err.Error()
	}
	return ""
}
