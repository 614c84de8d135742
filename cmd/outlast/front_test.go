package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// front is what stands before a server, or is one: it behaves as a script says,
// from one moment to the next. Each connection that it takes is a line of a
// file, with the behaviour and what was asked for.
type front struct {
	path string // of the file

	mu       sync.Mutex
	how      string
	address  string
	listener net.Listener  // nil while it refuses
	flapping chan struct{} // closed to end it
}

type frontKey struct{}

func setUpFront(env *testscript.Env) {
	f := &front{path: filepath.Join(env.WorkDir, "front")}
	env.Values[frontKey{}] = f
	env.Defer(func() { f.be("refuse") })
}

// frontCmd is "front HOW": refuse, close (accept, and close at once), 503 (of a
// proxy), loading (as a server of today), serve, or flap (refuse and serve in
// turn, for half a second each). It sets $FRONT to its URL and $FRONT_ADDR to its
// address, and notes its connections in the file front.
func frontCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: front refuse|close|503|loading|serve|flap")
	}
	f := ts.Value(frontKey{}).(*front)
	ts.Check(f.be(args[0]))
	ts.Setenv("FRONT_ADDR", f.address)
	ts.Setenv("FRONT", "http://"+f.address)
}

// be changes the behaviour.
func (f *front) be(how string) error {
	f.mu.Lock()
	if f.flapping != nil {
		close(f.flapping)
		f.flapping = nil
	}
	if how == "flap" {
		f.flapping = make(chan struct{})
		go f.flap(f.flapping)
	}
	f.mu.Unlock()
	if how == "flap" {
		how = "refuse"
	}
	return f.become(how)
}

func (f *front) flap(end <-chan struct{}) {
	for up := true; ; up = !up {
		select {
		case <-end:
			return
		case <-time.After(500 * time.Millisecond):
		}
		if err := f.become(map[bool]string{true: "serve", false: "refuse"}[up]); err != nil {
			panic(err)
		}
	}
}

func (f *front) become(how string) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.how = how
	if f.address == "" || (how != "refuse" && f.listener == nil) {
		address := f.address
		if address == "" {
			address = "127.0.0.1:0"
		}
		if f.listener, err = net.Listen("tcp", address); err != nil {
			return err
		}
		f.address = f.listener.Addr().String()
		go f.accept(f.listener)
	}
	if how == "refuse" {
		f.close()
	}
	return nil
}

func (f *front) close() {
	if f.listener != nil {
		f.listener.Close()
		f.listener = nil
	}
}

func (f *front) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go f.answer(conn)
	}
}

// answer is one connection.
func (f *front) answer(conn net.Conn) {
	defer conn.Close()
	f.mu.Lock()
	how := f.how
	f.mu.Unlock()
	if how == "close" || how == "refuse" {
		f.note(how)
		return
	}
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		f.note(how)
		return
	}
	f.note(how + " " + r.URL.Path)
	status, body := "200 OK", `{"rows":[],"columns":[]}`
	switch {
	case how == "503":
		status, body = "503 Service Unavailable", "no healthy upstream"
	case how == "loading" && r.URL.Path == "/readyz":
		status, body = "503 Service Unavailable", `{"ready":false,"status":"loading"}`
	case how == "loading" && r.URL.Path != "/healthz":
		status, body = "503 Service Unavailable", `{"error":"graph is loading; wait for its startup attempt to complete","code":"graph_unavailable"}`
	}
	fmt.Fprintf(conn, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// note adds a line to the file, whole.
func (f *front) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return // the script has ended
	}
	defer file.Close()
	fmt.Fprintln(file, text)
}

// patience is when a script gives up waiting. No speed is asserted.
const patience = 2 * time.Minute

// awaitCmd is "await COUNT PATTERN FILE": until so many lines of the file match.
func awaitCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: await COUNT PATTERN FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var text []byte
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, _ = os.ReadFile(ts.MkAbs(args[2])) // there may be none yet
		if len(pattern.FindAll(text, -1)) >= want {
			return
		}
	}
	ts.Fatalf("no %d matches of %q in %s:\n%s", want, args[1], args[2], text)
}

// standinCmd is "standin [RELEASE]": it puts the stand-in for omnigraph on the
// script's PATH, by itself that of 0.10, which asks no server for its contract.
// Each of its runs is a line of the file calls.
func standinCmd(t *testing.T) func(*testscript.TestScript, bool, []string) {
	built := sync.OnceValue(func() string {
		path := filepath.Join(t.TempDir(), "standin")
		return goBuild(t, path, "../../tests/omnigraph/omnigraph")
	})
	return func(ts *testscript.TestScript, neg bool, args []string) {
		ts.Check(os.Mkdir(ts.MkAbs("bin"), 0o700))
		ts.Check(os.Symlink(built(), ts.MkAbs("bin/omnigraph")))
		ts.Setenv("PATH", ts.MkAbs("bin")+string(os.PathListSeparator)+ts.Getenv("PATH"))
		ts.Setenv("STANDIN_LOG", ts.MkAbs("calls"))
		ts.Setenv("STANDIN_RELEASE", append(args, "0.10")[0])
	}
}
