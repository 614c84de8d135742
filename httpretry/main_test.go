package httpretry_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpretry"
)

// plugin is shared by the tests: loading it takes a second.
var plugin *host.Plugin

func TestMain(m *testing.M) {
	var err error
	// A middleware gives the plugin a task of its own making.
	copying := host.WithMiddleware(host.Observing(func(*host.Task) host.Observer { return func(host.Event) {} }))
	if plugin, err = host.Open(host.WithInterpreter(), copying); err != nil {
		panic(err)
	}
	code := m.Run()
	plugin.Close(context.Background())
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// client tries again on a virtual clock, unless the options have another.
func client(t *testing.T, o httpretry.Options) *http.Client {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	if o.Clock == nil {
		o.Clock = &virtual.Clock{}
	}
	return &http.Client{Transport: httpretry.New(plugin, base, o)}
}

// serve is a server that counts its requests from 1.
func serve(t *testing.T, each func(n int64, w http.ResponseWriter, r *http.Request)) (url string, asked *atomic.Int64) {
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		each(asked.Add(1), w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// busy answers 503 to all requests before one.
func busy(good int64) func(int64, http.ResponseWriter, *http.Request) {
	return func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n < good {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, "said")
	}
}

// deadPort is an address where nobody listens until listen is called.
func deadPort(t *testing.T) (address string, listen func(http.Handler)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	return address, func(h http.Handler) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		server := &http.Server{Handler: h}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
	}
}

// healing is a virtual clock by whose first wait a server comes back.
type healing struct {
	virtual.Clock
	heal func()
}

func (h *healing) Sleep(ctx context.Context, d time.Duration) error {
	if h.heal != nil {
		h.heal()
		h.heal = nil
	}
	return h.Clock.Sleep(ctx, d)
}

// text is an answer's body.
func text(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}

// seen collects events.
type seen struct{ events []host.Event }

func (s *seen) observe(e host.Event) { s.events = append(s.events, e) }

// outcome is that of the call that was seen last.
func (s *seen) outcome() abi.Outcome {
	for i := len(s.events) - 1; i >= 0; i-- {
		if stopped, ok := s.events[i].(host.Stopped); ok {
			return stopped.Outcome
		}
	}
	return abi.Outcome{}
}
