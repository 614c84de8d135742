package httpattempt_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpretry"
)

// healing is a clock by whose waits a stage is healed.
type healing struct {
	virtual.Clock
	stage *stage
}

func (h *healing) Sleep(ctx context.Context, d time.Duration) error {
	err := h.Clock.Sleep(ctx, d)
	if h.Now() >= away {
		h.stage.heal()
	}
	return err
}

// through makes a request on a stage by a client whose transport tries again, and
// says what came of it.
func (s *stage) through(t testing.TB, request *http.Request, o httpretry.Options) (story string, outcome abi.OutcomeType) {
	clock := &healing{stage: s}
	o.Clock, o.Ready = clock, "off" // looks, in real time, would be connections that a stage counts
	client := *s.client
	client.Transport = httpretry.New(plugin, s.client.Transport, o)
	response, err := client.Do(request)
	end := ""
	if clock.Now() >= away {
		end = ", rode it out"
	}
	var failed *host.CallError
	switch {
	case err == nil:
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		story = fmt.Sprint(response.StatusCode)
		if err != nil {
			story += ", cut"
		}
		outcome = abi.OutcomeOK
	case errors.As(err, &failed):
		outcome = failed.Outcome.Type
		story, end = string(outcome), ""
	default:
		t.Errorf("%v has no outcome", err)
	}
	return fmt.Sprintf("%d, %s%s", s.applied.Load(), story, end), outcome
}

// The table in docs/http-clients.md is what happens.
func TestMatrixOfTheTransport(t *testing.T) {
	var table strings.Builder
	table.WriteString("| what happens | GET: applied, answer or outcome | POST | POST with a key that is honoured |\n| --- | --- | --- | --- |\n")
	for _, f := range faults {
		fmt.Fprintf(&table, "| %s |", f.name)
		for _, c := range []struct {
			read bool
			key  string
		}{{true, ""}, {false, ""}, {false, "o-1"}} {
			s := f.stage(t)
			o := httpretry.Options{}
			if c.key != "" {
				s.key, o.HonoursKey = c.key, httpretry.Routes("POST /orders")
			}
			story, outcome := s.through(t, s.request(t, c.read), o)
			fmt.Fprintf(&table, " %s |", story)
			if applied := s.applied.Load(); !c.read && c.key == "" && (applied > 1 || applied == 0 && outcome == abi.OutcomeOK) {
				t.Errorf("%s: a write was applied %d times, and is %s", f.name, applied, outcome)
			}
		}
		table.WriteString("\n")
	}
	check(t, "../docs/http-clients.md", "httpretry", table.String())
}

// A body that cannot be read again is sent once; but what no attempt has read of is
// there for the next. It is closed in any case.
func TestABodyForOnce(t *testing.T) {
	handshake := func(t testing.TB) *stage {
		return secured(newStage(t, func(_ *stage, c net.Conn) { hello(c); c.Close() }))
	}
	for name, c := range map[string]struct {
		stage *stage
		want  string
	}{
		"refused":                    {newStage(t, nil), "1, 200, rode it out"},
		"closed in a TLS handshake":  {handshake(t), "1, 200, rode it out"},
		"broken after the request":   {newStage(t, answers(func(_ *stage, c net.Conn) { c.Close() })), "1, indeterminate"},
		"refused before it was sent": {newStage(t, status("503 Service Unavailable")), "1, 503"},
		"answered":                   {newStage(t, says(fine)), "1, 200"},
	} {
		body := &closed{Reader: strings.NewReader(`{"order":1}`)}
		request, err := http.NewRequest(http.MethodPost, c.stage.url, body)
		if err != nil {
			t.Fatal(err)
		}
		story, _ := c.stage.through(t, request, httpretry.Options{Repeatable: func(*http.Request) bool { return true }})
		if story != c.want || !body.closed.Load() {
			t.Errorf("%s: %s, closed: %t", name, story, body.closed.Load())
		}
	}
}

// closed is a body that notes that it is.
type closed struct {
	io.Reader
	closed atomic.Bool
}

func (c *closed) Close() error {
	c.closed.Store(true)
	return nil
}
