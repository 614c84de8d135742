package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// phase is one of a server's life.
type phase int32

const (
	loading phase = iota
	ready
	draining
)

func (p phase) String() string { return [...]string{"loading", "serving", "draining"}[p] }

// Server is omnigraph's server. It keeps what it applied in a file, so that a
// restart keeps it too, and a test sees what was applied twice.
type Server struct {
	Release Release
	Ledger  string        // a file; without one nothing is kept
	Loading time.Duration // for how long the graphs open
	Work    time.Duration // how long a data request takes
	Grace   time.Duration // how long a stop waits for requests that are under way
	Dies    Moment        // when it is killed, by its first write
	phase   atomic.Int32
	stdout  io.Writer // nil: a handler in a test
}

// Moment is one in the life of a write.
type Moment string

const (
	Never     Moment = ""
	Read      Moment = "read"      // the request is read, nothing is applied
	Applied   Moment = "applied"   // the write is in the ledger, no answer is begun
	Answering Moment = "answering" // half of the answer is sent
)

// Run serves until a signal stops it, and is the exit code: 0, 1 where it could
// not start, 2 where requests were still under way at the end of the grace. Up
// to release 0.11 it listens once its graphs are open, since then before. It
// prints its address when it listens, READY and the time when the graphs are
// open, and WORK with each data request that it takes.
func (s *Server) Run(address string, stdout, stderr io.Writer) int {
	s.stdout = stdout
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	if !s.Release.bindsFirst() && !s.open(stop) {
		return 0
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "OMNIGRAPH_LISTEN_ADDR=%v\n", listener.Addr())
	server := &http.Server{Handler: s}
	go server.Serve(listener)
	if s.Release.bindsFirst() && !s.open(stop) {
		server.Close()
		return 0
	}
	fmt.Fprintln(stdout, "READY", time.Now().UnixNano())
	<-stop
	s.phase.Store(int32(draining))
	ctx, cancel := context.WithTimeout(context.Background(), s.Grace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		return 2
	}
	return 0
}

// open takes its time, or is stopped.
func (s *Server) open(stop <-chan os.Signal) bool {
	select {
	case <-stop:
		return false
	case <-time.After(s.Loading):
	}
	s.phase.Store(int32(ready))
	return true
}

// SetReady ends the loading of a server that is a handler in a test.
func (s *Server) SetReady() { s.phase.Store(int32(ready)) }

// ServeHTTP answers as the server of this release does in this phase of its life.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Release.discovers() {
		w.Header().Set(header, s.Release.contract())
	}
	switch p := phase(s.phase.Load()); {
	case r.URL.Path == "/healthz":
		w.Header().Set("Cache-Control", "no-store")
		answer(w, http.StatusOK, []member{{"status", "ok"}, {"version", s.Release.contract() + ".0"}, {"internal_schema_version", s.Release.schema()}})
	case r.URL.Path == "/readyz" && s.Release.hasReadyz():
		s.readyz(w, p)
	case s.Release.discovers() && (len(r.Header.Values(header)) != 1 || r.Header.Get(header) != s.Release.contract()):
		refuse(w, http.StatusBadRequest, "bad_request", "exactly one omnigraph-http-api header with value "+s.Release.contract()+" is required")
	case p == loading:
		refuse(w, http.StatusServiceUnavailable, "graph_unavailable", "graph is loading; wait for its startup attempt to complete")
	case p == draining:
		refuse(w, http.StatusServiceUnavailable, "service_unavailable", "server operation admission is closed; reconcile any prior write before retrying")
	default:
		s.data(w, r)
	}
}

func (s *Server) readyz(w http.ResponseWriter, p phase) {
	status, count := http.StatusServiceUnavailable, map[bool]int{true: 1}
	if p == ready {
		status = http.StatusOK
	}
	body := []member{
		{"ready", p == ready}, {"status", p.String()}, {"state_revision", 1}, {"served_graph_count", 1},
		{"ready_graph_count", count[p == ready]}, {"loading_graph_count", count[p == loading]}, {"blocked_graph_count", 0},
		{"shutdown_grace_seconds", int(s.Grace.Seconds())},
	}
	if s.Release.minor == 11 {
		body = []member{{"ready", p == ready}, {"status", p.String()}, {"quarantined_graph_count", 0}}
	}
	answer(w, status, body)
}

// data answers a request for the graphs' data.
func (s *Server) data(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/graphs" {
		answer(w, http.StatusOK, []member{{"graphs", []any{map[string]any{"id": "g"}}}})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if s.stdout != nil {
		fmt.Fprintln(s.stdout, "WORK", r.URL.Path)
	}
	time.Sleep(s.Work)
	if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/query") {
		s.show(w)
		return
	}
	s.die(Read)
	if err := s.apply(r.URL.Path, body); err != nil {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	s.die(Applied)
	if s.Dies == Answering {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"human":"1`)
		w.(http.Flusher).Flush()
		s.die(Answering)
	}
	answer(w, http.StatusOK, []member{{"human", "applied"}, {"affected_nodes", 1}})
}

// apply keeps a write: its parameters, or all of the body that has none.
func (s *Server) apply(path string, body []byte) error {
	if s.Ledger == "" {
		return nil
	}
	var told struct{ Params string }
	if value, err := decode(body); err == nil {
		if object, ok := value.(map[string]any); ok {
			told.Params, _ = object["params"].(string)
		}
	}
	if told.Params == "" {
		told.Params = path
	}
	return appendLine(s.Ledger, told.Params)
}

// show answers with all that was ever applied.
func (s *Server) show(w http.ResponseWriter) {
	text, err := os.ReadFile(s.Ledger)
	if err != nil && s.Ledger != "" && !errors.Is(err, os.ErrNotExist) {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	rows := []any{}
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.TrimSuffix(line, "\n"))
	}
	answer(w, http.StatusOK, []member{{"human", strings.TrimSuffix(string(text), "\n")}, {"row_count", len(rows)}, {"rows", rows}})
}

// die is the end of this process at a moment, as SIGKILL is.
func (s *Server) die(at Moment) {
	if s.Dies != at {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		self.Kill()
	}
	select {}
}

func refuse(w http.ResponseWriter, status int, code, text string) {
	answer(w, status, []member{{"error", text}, {"code", code}})
}

func answer(w http.ResponseWriter, status int, body []member) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, encode(body))
}
