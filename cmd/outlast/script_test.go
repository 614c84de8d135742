package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"outlast/followed"
)

func TestMain(m *testing.M) {
	if code, is := demoCommand(os.Args); is {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"outlast": func() { leave(realMain(os.Args[1:])) },
		"ask":     ask,
	})
}

// TestScripts runs testdata/script: the real tool, real commands, real sockets.
func TestScripts(t *testing.T) { scripts(t, testscript.Params{Dir: "testdata/script"}) }

// TestScriptsDrivenByThePlugin runs again the scripts in which something is waited
// for, with the plugin's own loop.
func TestScriptsDrivenByThePlugin(t *testing.T) {
	var files []string
	for _, pattern := range []string{"run_outage", "run_ready_*", "run_exhausted", "run_flags", "run_limits", "run_signals", "run_omnigraph"} {
		some, err := filepath.Glob("testdata/script/" + pattern + ".txtar")
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, some...)
	}
	scripts(t, testscript.Params{Files: files}, "OUTLAST_DRIVE=plugin")
}

func scripts(t *testing.T, p testscript.Params, vars ...string) {
	testscript.Run(t, testscript.Params{
		Dir: p.Dir, Files: p.Files,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, vars...)
			server := &testServer{}
			env.Values[serverKey{}] = server
			env.Defer(server.stop)
			setUpFront(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server":  serverCmd,
			"within":  withinCmd,
			"front":   frontCmd,
			"await":   awaitCmd,
			"standin": standinCmd(t),
			"site":    siteCmd,
		},
	})
}

type serverKey struct{}

// testServer is a server that scripts start and stop. It keeps its address.
type testServer struct {
	mu     sync.Mutex
	addr   string
	server *http.Server
}

func (s *testServer) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	addr := s.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.addr = listener.Addr().String()
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "the answer")
	})}
	go s.server.Serve(listener)
	return nil
}

func (s *testServer) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		s.server.Close()
		s.server = nil
	}
}

// serverCmd is "server start", "server stop" and "server back DURATION". The
// first sets $SERVER; the last starts it again after a while.
func serverCmd(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serverKey{}).(*testServer)
	switch {
	case len(args) == 1 && args[0] == "start":
		ts.Check(s.start())
		ts.Setenv("SERVER", "http://"+s.addr)
	case len(args) == 1 && args[0] == "stop":
		s.stop()
	case len(args) == 2 && args[0] == "back":
		after, err := time.ParseDuration(args[1])
		ts.Check(err)
		time.AfterFunc(after, func() { s.start() })
	default:
		ts.Fatalf("usage: server start|stop|back DURATION")
	}
}

// siteCmd is "site FILE": a web server of the folder sets $SITE, and FILE's digest
// $DIGEST.
func siteCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: site FILE")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs("."))))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.URL)
	ts.Setenv("DIGEST", followed.Digest([]byte(ts.ReadFile(args[0]))))
}

// withinCmd is "within LOW HIGH FILE": FILE has from LOW to HIGH lines.
func withinCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: within LOW HIGH FILE")
	}
	var low, high int
	if _, err := fmt.Sscan(args[0]+" "+args[1], &low, &high); err != nil {
		ts.Fatalf("%v", err)
	}
	lines := strings.Count(ts.ReadFile(args[2]), "\n")
	if (lines >= low && lines <= high) == neg {
		ts.Fatalf("%s has %d lines", args[2], lines)
	}
}
