package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpattempt"
	"outlast/retry"
)

// plugin is shared by the tests: loading it takes a second.
var plugin *host.Plugin

func TestMain(m *testing.M) {
	var err error
	if plugin, err = host.Open(host.WithInterpreter()); err != nil {
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

// server answers 503 until it has been asked so often.
func server(t *testing.T, good int64) (client *http.Client, url string, asked *atomic.Int64) {
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n < good {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	client = &http.Client{Transport: httpattempt.Transport(&http.Transport{})}
	t.Cleanup(client.CloseIdleConnections)
	return client, s.URL, asked
}

func get(ctx context.Context, client *http.Client, method, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, httpattempt.Check(response)
}

func task(read bool) *host.Task {
	return &host.Task{Call: host.Call{Remote: true, Read: read}, Clock: &virtual.Clock{}}
}

func TestDo(t *testing.T) {
	for name, c := range map[string]struct {
		task   *host.Task
		method string
		good   int64
		value  int
		asked  int64
		want   abi.OutcomeType
	}{
		"a read":                 {task(true), http.MethodGet, 4, 200, 4, abi.OutcomeOK},
		"a write":                {task(false), http.MethodPost, 4, 503, 1, abi.OutcomeIndeterminate},
		"a read of two attempts": {&host.Task{Call: host.Call{Remote: true, Read: true}, Clock: &virtual.Clock{}, Attempts: 2}, http.MethodGet, 4, 503, 2, abi.OutcomeExhausted},
	} {
		client, url, asked := server(t, c.good)
		value, err := retry.Do(t.Context(), plugin, c.task, func(ctx context.Context) (int, error) {
			return get(ctx, client, c.method, url)
		})
		if value != c.value || asked.Load() != c.asked || outcomeOf(err) != c.want {
			t.Errorf("%s: %d, asked %d times, %v", name, value, asked.Load(), err)
		}
		if answered := new(httpattempt.StatusError); err != nil && !errors.As(err, &answered) {
			t.Errorf("%s: the own error is not in %v", name, err)
		}
	}
	own := task(true)
	own.Attempt = httpattempt.Func(func(context.Context) error { return nil })
	if _, err := retry.Do(t.Context(), plugin, own, func(context.Context) (int, error) { return 1, nil }); err == nil {
		t.Error("a task with an attempt of its own")
	}
}

func outcomeOf(err error) abi.OutcomeType {
	var failed *host.CallError
	switch {
	case err == nil:
		return abi.OutcomeOK
	case errors.As(err, &failed):
		return failed.Outcome.Type
	}
	return ""
}

// Each way to go through a loop, and what its call came to. The server is good from
// the third turn on.
func TestAttempts(t *testing.T) {
	own := errors.New("own")
	for name, c := range map[string]struct {
		read  bool
		body  func(a *retry.Attempt, err error) (leave bool)
		turns int64
		want  abi.OutcomeType
		is    error
	}{
		"a read":                        {true, func(a *retry.Attempt, err error) bool { a.End(err); return false }, 3, abi.OutcomeOK, nil},
		"a write":                       {false, func(a *retry.Attempt, err error) bool { a.End(err); return false }, 1, abi.OutcomeIndeterminate, nil},
		"a read whose first word is ok": {true, func(a *retry.Attempt, err error) bool { a.End(nil); a.End(err); return false }, 1, abi.OutcomeOK, nil},
		"an own error beside a 503":     {true, func(a *retry.Attempt, _ error) bool { a.End(own); a.End(nil); return false }, 3, abi.OutcomeFailed, own},
		"not ended":                     {true, func(*retry.Attempt, error) bool { return false }, 1, abi.OutcomeCancelled, retry.ErrNotEnded},
		"left, not ended":               {true, func(*retry.Attempt, error) bool { return true }, 1, abi.OutcomeCancelled, retry.ErrLeft},
		"left after a failure":          {true, func(a *retry.Attempt, _ error) bool { a.End(own); return true }, 1, abi.OutcomeCancelled, own},
		"left after success":            {true, func(a *retry.Attempt, _ error) bool { a.End(nil); return true }, 1, abi.OutcomeOK, nil},
	} {
		client, url, _ := server(t, 3)
		loop := retry.Attempts(t.Context(), plugin, task(c.read))
		if !errors.Is(loop.Err(), retry.ErrLeft) {
			t.Errorf("%s: before its first turn: %v", name, loop.Err())
		}
		turns := int64(0)
		for attempt := range loop.All() {
			if turns++; attempt.Number != turns {
				t.Errorf("%s: turn %d is attempt %d", name, turns, attempt.Number)
			}
			_, err := get(attempt.Context(), client, http.MethodGet, url)
			if c.body(attempt, err) {
				break
			}
		}
		if turns != c.turns || outcomeOf(loop.Err()) != c.want || c.is != nil && !errors.Is(loop.Err(), c.is) {
			t.Errorf("%s: %d turns, %v", name, turns, loop.Err())
		}
		for range loop.All() {
			t.Errorf("%s: again", name)
		}
	}
}

// A loop that panics is over, and has not succeeded.
func TestAPanic(t *testing.T) {
	loop := retry.Attempts(t.Context(), plugin, task(true))
	func() {
		defer func() {
			if recover() != "own" {
				t.Error("the panic did not come through")
			}
		}()
		for range loop.All() {
			panic("own")
		}
	}()
	if !errors.Is(loop.Err(), retry.ErrLeft) {
		t.Error(loop.Err())
	}
}

func ExampleDo() {
	task := &host.Task{Call: host.Call{Label: "greet", Remote: true, Read: true}, Clock: &virtual.Clock{}}
	n := 0
	text, err := retry.Do(context.Background(), plugin, task, func(context.Context) (string, error) {
		if n++; n < 3 {
			return "", &httpattempt.StatusError{Status: http.StatusServiceUnavailable}
		}
		return "hello", nil
	})
	fmt.Println(text, err, n)
	// Output: hello <nil> 3
}

func ExampleAttempts() {
	task := &host.Task{Call: host.Call{Label: "greet", Remote: true, Read: true}, Clock: &virtual.Clock{}}
	loop := retry.Attempts(context.Background(), plugin, task)
	for attempt := range loop.All() {
		var err error
		if attempt.Number < 3 {
			err = &httpattempt.StatusError{Status: http.StatusServiceUnavailable}
		}
		fmt.Println("attempt", attempt.Number)
		attempt.End(err)
	}
	fmt.Println(loop.Err())
	// Output:
	// attempt 1
	// attempt 2
	// attempt 3
	// <nil>
}
