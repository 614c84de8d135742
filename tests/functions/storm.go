//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"outlast/host"
)

// storm is one run of all calls.
type storm struct {
	checkout      string
	calls, atOnce int
	seed          uint64
	careless      bool // writes are declared as reads, as nobody should
}

// call is one call, as its driver is told of it.
type call struct {
	ID     string `json:"id"`
	Client string `json:"client"`
	Path   string `json:"path"` // its driver appends which of its requests it is, and in which attempt
	Write  bool   `json:"write"`
	Read   bool   `json:"read"` // what outlast is told that it is
	// Refuses is a claim that the server keeps: it refuses before it acts.
	Refuses bool   `json:"refuses"`
	Shape   string `json:"shape"` // what an attempt does: one request, one and then another, both at once
	Kept    bool   `json:"kept"`  // on connections that are kept, and shared
}

// told is what a driver was told of a call in the end.
type told struct {
	ID       string   `json:"id"`
	Outcome  string   `json:"outcome"` // raised: an error that is none of outlast's
	Effects  string   `json:"effects"`
	Seen     string   `json:"seen"` // what the call returned
	Attempts int      `json:"attempts"`
	Kinds    []string `json:"kinds"` // of the failures
	Message  string   `json:"message"`
	From     int64    `json:"from"` // when it began and ended, in milliseconds since 1970
	To       int64    `json:"to"`
}

// languages has the clients of each driver.
var languages = []struct {
	name    string
	clients []string
}{
	{"go", []string{"Do", "Func", "Func-claimed", transported}},
	{"python", []string{"urllib", "requests", "httpx", "httpx-async", "aiohttp", xmlrpc}},
	{"node", []string{"fetch", "undici", "http", "axios"}},
}

// transported is a client with package httpretry's transport. It follows no redirect,
// since each hop would be a call of its own.
const transported = "httpretry"

// xmlrpc follows no redirect, and does not see that an answer is cut. In a thread
// of its own it sends a request again by itself: docs/evidence.md warns of it.
const xmlrpc = "xmlrpc"

// followsNone are the clients that follow no redirect, so that one ends a read.
var followsNone = map[string]bool{"Func-claimed": true, transported: true, xmlrpc: true, "http": true}

const (
	one  = "one"
	then = "then"
	both = "both"
)

// plan draws the calls of a language.
func (s *storm) plan(language int) []call {
	random := rand.New(rand.NewPCG(s.seed, uint64(language)))
	l, calls := languages[language], []call{}
	for i := range (s.calls + language) / len(languages) { // so that they are s.calls in all
		c := call{ID: fmt.Sprint(l.name, i), Client: l.clients[i%len(l.clients)], Shape: one}
		kind := "r"
		if c.Write = random.IntN(3) > 0; c.Write {
			kind = "w"
			if c.Refuses = random.IntN(5) == 0; c.Refuses {
				kind = refuser
			}
		}
		c.Read = !c.Write || s.careless
		c.Kept = random.IntN(3) > 0 || c.Client == "fetch" // which has connections from other calls
		if c.Client != "Do" && c.Client != "Func-claimed" && c.Client != transported {
			c.Shape = []string{one, one, one, one, then, both}[random.IntN(6)]
		}
		c.Path = strings.Join([]string{"", l.name, c.Client, kind, c.ID}, "/")
		calls = append(calls, c)
	}
	return calls
}

func (s *storm) run() (*found, error) {
	dir, err := os.MkdirTemp("", "functions-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	document := filepath.Join(dir, "short.json")
	if err := short(document); err != nil {
		return nil, err
	}
	server, err := newServer(s.seed)
	if err != nil {
		return nil, err
	}
	began, stop := time.Now(), make(chan struct{})
	kept := make(chan error, 1)
	go func() { kept <- server.keep(stop) }()

	f := newFound(s.seed)
	var mu sync.Mutex // guards err and f
	var running sync.WaitGroup
	for i := range languages {
		running.Go(func() {
			plan := s.plan(i)
			lines, failed := s.driven(i, plan, server.url, document)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = failed
			}
			f.calls = append(f.calls, pairs(languages[i].name, plan, lines)...)
		})
	}
	running.Wait()
	close(stop)
	if failed := <-kept; failed != nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	server.late.Wait()
	f.took = time.Since(began)
	f.judge(server)
	return f, nil
}

// short writes the policy network with shorter waits.
func short(file string) error {
	network, err := host.BuiltIn("network")
	if err == nil {
		network, err = network.WithMaxWait(window)
	}
	if err != nil {
		return err
	}
	text := network.Document()
	for was, is := range map[string]string{`"500ms"`: `"50ms"`, `"10s"`: `"400ms"`, `"250ms"`: `"50ms"`, `"4s"`: `"400ms"`} {
		if !strings.Contains(text, was) {
			return fmt.Errorf("the policy network has no %s to shorten", was)
		}
		text = strings.ReplaceAll(text, was, is)
	}
	if _, err := host.ParsePolicy(text); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// window is how long a call waits for a server that is away, which is never away for
// so long.
const window = 6 * time.Second

// limit is how long a client waits for an answer.
const limit = 400 * time.Millisecond

// driven makes the calls by the language's driver, and gives what that printed.
func (s *storm) driven(language int, plan []call, url, document string) (map[string]told, error) {
	command, err := s.driver(language)
	if err != nil {
		return nil, err
	}
	var calls bytes.Buffer
	for _, c := range plan {
		if err := json.NewEncoder(&calls).Encode(c); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(command[0], append(command[1:], url, document)...)
	cmd.Env = append(os.Environ(), atOnceVar+"="+strconv.Itoa(s.atOnce), limitVar+"="+strconv.FormatInt(limit.Milliseconds(), 10))
	cmd.Stdin, cmd.Stderr = &calls, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the driver of %s: %w", languages[language].name, err)
	}
	lines := map[string]told{}
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		var t told
		if err := json.Unmarshal(scan.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("the driver of %s printed %q: %w", languages[language].name, scan.Text(), err)
		}
		lines[t.ID] = t
	}
	return lines, nil
}

const (
	driveVerb = "drive"
	atOnceVar = "FUNCTIONS_AT_ONCE"
	limitVar  = "FUNCTIONS_LIMIT_MS"
)

func (s *storm) driver(language int) ([]string, error) {
	here := filepath.Join(s.checkout, "tests", "functions")
	switch languages[language].name {
	case "python":
		return []string{s.python(), filepath.Join(here, "drive.py")}, nil
	case "node":
		return []string{"node", filepath.Join(here, "drive.mjs")}, nil
	}
	self, err := os.Executable()
	return []string{self, driveVerb}, err
}

// python must not be made absolute by its links: they say which packages it has.
func (s *storm) python() string { return filepath.Join(s.checkout, "python", ".venv", "bin", "python") }

// missing is what a run needs and this checkout lacks.
func (s *storm) missing() string {
	for _, need := range []struct{ path, made string }{
		{s.python(), "python/check.sh"},
		{filepath.Join(s.checkout, "js", "dist", "index.js"), "js/check.sh"},
		{filepath.Join(s.checkout, "js", "node_modules", "undici"), "js/check.sh"},
	} {
		if _, err := os.Stat(need.path); err != nil {
			return fmt.Sprintf("no %s, which %s makes", need.path, need.made)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "no node"
	}
	return ""
}
