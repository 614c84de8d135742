package measure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"outlast/outages"
	"outlast/process"
)

// Sample is what one look at a target saw.
type Sample struct {
	Start, End time.Time
	Connected  time.Time // when a connection was accepted; zero: none was
	State      outages.State
	Status     int    // of Unready: the HTTP status; of Failing: the exit code
	Why        string // what failed, for people; "" for Ready
}

// Good says whether the target was up.
func (s *Sample) Good() bool { return s.State == outages.Ready }

// prober looks at a target once. The error says that looking makes no sense: a
// command that cannot be started.
type prober func(ctx context.Context) (Sample, error)

func (t *Target) prober(timeout time.Duration) prober {
	look := t.http
	switch t.Scheme {
	case "tcp":
		look = t.tcp
	case "":
		return func(ctx context.Context) (Sample, error) { return t.command(ctx, timeout) }
	}
	return func(ctx context.Context) (Sample, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		s := Sample{Start: time.Now()}
		look(ctx, &s)
		s.End = time.Now()
		return s, nil
	}
}

// tcp connects. Names are looked up afresh each time: a restart may move a server.
func (t *Target) tcp(ctx context.Context, s *Sample) {
	if conn := t.connect(ctx, s); conn != nil {
		conn.Close()
		s.State, s.Why = outages.Ready, ""
	}
}

// connect is a connection, or nil and the state that follows from there being none.
func (t *Target) connect(ctx context.Context, s *Sample) net.Conn {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.address())
	if err == nil {
		s.Connected = time.Now()
		s.State = outages.Accepting
		return conn
	}
	s.State, s.Why = outages.Unreachable, err.Error()
	if errors.Is(err, refused) || errors.Is(err, syscall.ECONNREFUSED) {
		s.State = outages.Refused
	}
	return nil
}

// http sends one request on a connection of its own: no proxy, no redirect, no
// token.
func (t *Target) http(ctx context.Context, s *Sample) {
	conn := t.connect(ctx, s)
	if conn == nil {
		return
	}
	defer conn.Close()
	status, err := t.ask(ctx, conn)
	switch {
	case err != nil:
		s.Why = err.Error()
	case t.expects(status):
		s.State = outages.Ready
	default:
		s.State, s.Status = outages.Unready, status
		s.Why = fmt.Sprintf("it answers %d", status)
	}
}

func (t *Target) ask(ctx context.Context, conn net.Conn) (status int, err error) {
	to, err := url.ParseRequestURI(t.Path)
	if err != nil {
		return 0, err
	}
	to.Scheme, to.Host = t.Scheme, t.address()
	transport := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		TLSClientConfig:        &tls.Config{ServerName: t.Host},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10, // a choice: nothing of them is read
	}
	defer transport.CloseIdleConnections()
	request := &http.Request{Method: http.MethodGet, URL: to, Header: http.Header{"User-Agent": {"outlast"}}}
	response, err := transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	return response.StatusCode, nil
}

// killAfter is how long a command that took too long has to end by itself (a
// choice, short, since the next look waits for it).
const killAfter = time.Second

func (t *Target) command(ctx context.Context, timeout time.Duration) (Sample, error) {
	cmd := process.Command{Argv: t.Command, Timeout: timeout, KillAfter: killAfter}
	s := Sample{Start: time.Now(), State: outages.Failing}
	ended, err := cmd.Attempt(ctx)
	s.End = time.Now()
	if ended == nil {
		return s, err
	}
	defer ended.Discard()
	code := ended.Result.ExitCode
	switch {
	case ended.Result.TimedOut:
		s.Why = "it took longer than " + timeout.String()
	case code == nil:
		s.Why = "it was ended by " + ended.Result.Signal
		awaitInterrupt(ctx, ended.Result.Signal)
	case *code != 0:
		s.Why = fmt.Sprintf("it ended with exit code %d", *code)
		if *code > 0 && *code <= maxStatus {
			s.Status = int(*code)
		}
	default:
		s.State = outages.Ready
	}
	return s, nil
}

// awaitInterrupt gives a Ctrl-C that ended the command time to reach this process
// too, so that it does not look like the beginning of an outage.
func awaitInterrupt(ctx context.Context, signal string) {
	if signal == "SIGINT" {
		sleep(ctx, 100*time.Millisecond) // a choice: the two get it at the same time
	}
}

// maxStatus is the highest exit code that an outages file has room for; on
// Windows there are higher ones.
const maxStatus = 65535
