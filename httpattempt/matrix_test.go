package httpattempt_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpattempt"
)

// away is how long each fault lasts, on a virtual clock.
const away = 6 * time.Second

// faults are the rows of the table in docs/evidence.md, in its order.
var faults = []struct {
	name  string
	stage func(t testing.TB) *stage
}{
	{"refused", func(t testing.TB) *stage { return newStage(t, nil) }},
	{"no route", func(t testing.TB) *stage { return dialling(newStage(t, nil), "[2001:db8::1]:9") }},
	{"no name", func(t testing.TB) *stage { return dialling(newStage(t, nil), "nosuch.invalid:9") }},
	{"accepted, and closed at once", closing},
	{"closed in the TLS handshake", func(t testing.TB) *stage {
		return secured(newStage(t, func(_ *stage, c net.Conn) { hello(c); c.Close() }))
	}},
	{"reset in the TLS handshake", func(t testing.TB) *stage {
		return secured(newStage(t, func(_ *stage, c net.Conn) { hello(c); reset(c) }))
	}},
	{"a certificate that is not trusted", func(t testing.TB) *stage {
		s := secured(newStage(t, nil))
		s.client.Transport = &http.Transport{}
		s.heal()
		return s
	}},
	{"reset after the request", func(t testing.TB) *stage { return newStage(t, answers(func(_ *stage, c net.Conn) { reset(c) })) }},
	{"closed before the answer", func(t testing.TB) *stage { return newStage(t, answers(func(_ *stage, c net.Conn) { c.Close() })) }},
	{"an answer that is cut", func(t testing.TB) *stage {
		return newStage(t, answers(func(_ *stage, c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndone")
			c.Close()
		}))
	}},
	{"an answer that is no HTTP", func(t testing.TB) *stage { return newStage(t, says("220 mail.example ESMTP\r\n\r\n")) }},
	{"429, Retry-After 1", func(t testing.TB) *stage { return newStage(t, status("429 Too Many Requests", "Retry-After: 1\r\n")) }},
	{"503, Retry-After 1", func(t testing.TB) *stage { return newStage(t, status("503 Service Unavailable", "Retry-After: 1\r\n")) }},
	{"503", func(t testing.TB) *stage { return newStage(t, status("503 Service Unavailable")) }},
	{"500", func(t testing.TB) *stage { return newStage(t, status("500 Internal Server Error")) }},
	{"404", func(t testing.TB) *stage { return newStage(t, status("404 Not Found")) }},
	{"409", func(t testing.TB) *stage { return newStage(t, status("409 Conflict")) }},
	{"303 to a dead port", func(t testing.TB) *stage { return redirected(t, "303 See Other") }},
	{"307 to a dead port", func(t testing.TB) *stage { return redirected(t, "307 Temporary Redirect") }},
	{"a kept connection, and then refused", func(t testing.TB) *stage { return kept(t, true, nil) }},
	{"a kept connection, of a server that is up", func(t testing.TB) *stage { return kept(t, false, nil) }},
	{"the same, with an Idempotency-Key", func(t testing.TB) *stage {
		s := kept(t, false, nil)
		s.key = "o-1"
		return s
	}},
	{"GOAWAY, and then refused", func(t testing.TB) *stage {
		return secured(newStage(t, func(s *stage, c net.Conn) { goAway(s, c, false, 0) }), "h2")
	}},
	{"GOAWAY after the request was processed", func(t testing.TB) *stage {
		return secured(newStage(t, func(s *stage, c net.Conn) { goAway(s, c, true, 0) }), "h2")
	}},
}

// dialling connects to a bad address until the stage is healed.
func dialling(s *stage, bad string) *stage {
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{}
		if !s.healed.Load() {
			address, dialer.Timeout = bad, 100*time.Millisecond // some networks drop what has no route
		}
		return dialer.DialContext(ctx, network, address)
	}}
	return s
}

// closing is a server that closes each connection: that of an attempt once the
// request has been written, so that this is no matter of luck, and that of the look
// after it at once.
func closing(t testing.TB) *stage {
	var n atomic.Int64
	return newStage(t, func(_ *stage, c net.Conn) {
		if n.Add(1)%2 == 1 {
			c.Read(make([]byte, 1))
		}
		c.Close()
	})
}

// hello reads what a client of TLS says first.
func hello(c net.Conn) { c.Read(make([]byte, 4096)) }

func reset(c net.Conn) {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// redirected sends on, after it has acted, to a port that is dead until the stage
// is healed.
func redirected(t testing.TB, line string) *stage {
	behind := newStage(t, nil)
	s := newStage(t, func(s *stage, c net.Conn) {
		status(line, "Location: "+behind.url+"\r\n")(s, c)
	})
	s.mend = behind.heal
	return s
}

// kept is a server with a connection from before the call: it answers one request
// there, applies the next one, and closes without a word.
func kept(t testing.TB, dies bool, client *http.Client) *stage {
	var n atomic.Int64
	s := newStage(t, answers(func(s *stage, c net.Conn) {
		if n.Add(1) == 1 {
			io.WriteString(c, fine)
			return
		}
		c.Close()
	}))
	s.client = cmp.Or(client, s.client)
	response, err := s.client.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	s.applied.Store(0)
	if dies {
		s.close()
	} else {
		s.heal()
	}
	return s
}

// story is what became of one call.
type story struct {
	applied int64
	outcome *abi.Outcome
	err     error
	end     time.Duration
}

func (s *story) String() string {
	text := string(s.outcome.Type)
	if s.outcome.Type == abi.OutcomeOK && s.end >= away {
		text += ", rode it out"
	}
	return fmt.Sprintf("%d, %s", s.applied, text)
}

// call makes a call on a stage.
func (s *stage) call(t testing.TB, read bool, attempt httpattempt.Attempt) *story {
	return s.task(t, &host.Task{Call: host.Call{Remote: true, Read: read, Seed: new(int64)}, Attempt: attempt})
}

// task carries out a task on a stage, which is healed after a while.
func (s *stage) task(t testing.TB, task *host.Task) *story {
	clock, attempt := &virtual.Clock{}, task.Attempt
	task.Clock = clock
	task.Attempt = func(ctx context.Context, n int64) (abi.Result, error) {
		if clock.Now() >= away {
			s.heal()
		}
		return attempt(ctx, n)
	}
	outcome, err := plugin.Run(t.Context(), task)
	if outcome == nil {
		t.Fatal(err)
	}
	return &story{s.applied.Load(), outcome, err, clock.Now()}
}

func (s *stage) request(t testing.TB, read bool) *http.Request {
	method, body := http.MethodPost, io.Reader(strings.NewReader(`{"order":1}`))
	if read {
		method, body = http.MethodGet, nil
	}
	request, err := http.NewRequest(method, s.url, body)
	if err != nil {
		t.Fatal(err)
	}
	if s.key != "" {
		request.Header.Set("Idempotency-Key", s.key)
	}
	return request
}

// whole reads an answer to its end.
func whole(response *http.Response) error {
	_, err := io.Copy(io.Discard, response.Body)
	return err
}

var update = flag.Bool("update", false, "write the table into docs/evidence.md")

// The table in docs/evidence.md is what happens.
func TestMatrix(t *testing.T) {
	var table strings.Builder
	table.WriteString("| what happens | read: applied, outcome | write: applied, outcome |\n| --- | --- | --- |\n")
	for _, f := range faults {
		fmt.Fprintf(&table, "| %s |", f.name)
		for _, read := range []bool{true, false} {
			s := f.stage(t)
			got := s.call(t, read, httpattempt.Do(s.client, s.request(t, read), whole))
			fmt.Fprintf(&table, " %s |", got)
			if !read && got.applied > 1 {
				t.Errorf("%s: a write was applied %d times", f.name, got.applied)
			}
			if !read && got.outcome.Effects == abi.EffectsNone && got.outcome.Type != abi.OutcomeOK && got.applied > 0 && !strings.HasPrefix(f.name, "404") {
				t.Errorf("%s: applied, and said not to be: %v", f.name, got.err)
			}
		}
		table.WriteString("\n")
	}
	check(t, "../docs/evidence.md", "net/http", table.String())
}

// check compares a table with that of a page, between two marks, or writes it there.
func check(t *testing.T, page, mark, table string) {
	t.Helper()
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
	text, err := os.ReadFile(page)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatal(table)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	is, after, ok := strings.Cut(rest, end)
	switch {
	case err != nil || !ok:
		t.Fatalf("%s: %v", page, err)
	case is == table:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has\n%s\nwhat happens is\n%s", page, is, table)
	}
}
