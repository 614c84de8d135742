package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/logs"
)

const secret = "the attempt's own words"

func refused() (abi.Result, error) {
	return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo, Message: abi.Clip(secret)}, errors.New(secret)
}

func succeeded() (abi.Result, error) {
	ok := int64(200)
	return abi.Result{HTTPStatus: &ok}, nil
}

// logged opens a plugin whose calls are told of in a log, which lines reads.
func logged(t *testing.T) (plugin *host.Plugin, lines func() []map[string]any) {
	t.Helper()
	var text bytes.Buffer // which the handler locks
	logger := slog.New(slog.NewJSONHandler(&text, nil))
	plugin, err := host.Open(host.WithMiddleware(logs.To(logger)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close(context.Background()) })
	return plugin, func() (list []map[string]any) {
		if strings.Contains(text.String(), secret) {
			t.Errorf("an attempt is quoted: %s", &text)
		}
		for line := range strings.Lines(text.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
		return list
	}
}

// A call alone has a line for each wait, and one for its end, with the fields that
// every host has.
func TestACall(t *testing.T) {
	plugin, lines := logged(t)
	_, err := plugin.Run(context.Background(), &host.Task{
		Call: host.Call{Label: "orders", Remote: true, Read: true, Seed: new(int64)}, Clock: &virtual.Clock{},
		Attempt: func(_ context.Context, n int64) (abi.Result, error) {
			if n <= 2 {
				return refused()
			}
			return succeeded()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := lines()
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	for name, value := range map[string]any{
		"level": "WARN", "policy": "network", "label": "orders", "kind": "unavailable", "budget": "unavailable", "attempt": 2.0, "remaining": 150.0,
	} {
		if got[0][name] != value {
			t.Errorf("%s is %v in %v", name, got[0][name], got[0])
		}
	}
	if d, _ := got[0]["delay"].(float64); d < 0.5 || d > 0.55 {
		t.Errorf("%v", got[0])
	}
	if got[2]["level"] != "INFO" || got[2]["outcome"] != "ok" {
		t.Errorf("%v", got[2])
	}
	known := fields(t)
	for _, line := range got {
		for name := range line {
			if !slices.Contains(append(known, "time", "level", "msg", "attempts"), name) {
				t.Errorf("%s is no field of abi/telemetry.json", name)
			}
		}
	}
}

func fields(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../abi/telemetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Logs []string }
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	return said.Logs
}

func TestACallThatSucceedsAtOnceIsNotTold(t *testing.T) {
	plugin, lines := logged(t)
	_, err := plugin.Run(context.Background(), &host.Task{Attempt: func(context.Context, int64) (abi.Result, error) { return succeeded() }})
	if got := lines(); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", err, got)
	}
}

// Of 300 calls that meet one outage one is told of, and the rest is counted: every one
// of them. What is in doubt has its own line.
func TestManyCallsInOneOutage(t *testing.T) {
	plugin, lines := logged(t)
	if err := plugin.WarmUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(2600 * time.Millisecond)
		var calls sync.WaitGroup
		for i := range 300 {
			calls.Go(func() {
				_, _ = plugin.Run(context.Background(), &host.Task{
					Call: host.Call{Remote: true, Read: i != 7},
					Attempt: func(context.Context, int64) (abi.Result, error) {
						switch {
						case time.Now().Before(back):
							return refused()
						case i == 7:
							return abi.Result{Failure: abi.FailureBroke}, errors.New(secret)
						}
						return succeeded()
					},
				})
			})
		}
		calls.Wait()
	})
	got := lines()
	if len(got) > 12 {
		t.Errorf("%d lines", len(got))
	}
	var ends []string
	for _, line := range got {
		if text := line["msg"].(string); strings.Contains(text, "more calls waited") || line["outcome"] == "indeterminate" {
			ends = append(ends, text)
		}
	}
	want := "outlast: 299 more calls waited; 298 ok, 1 indeterminate"
	if len(ends) != 2 || !slices.Contains(ends, want) {
		t.Errorf("%q in %v", ends, got)
	}
}

// An outage that goes on is told of every five seconds, and not more often.
func TestALongOutage(t *testing.T) {
	plugin, lines := logged(t)
	if err := plugin.WarmUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() {
				_, _ = plugin.Run(context.Background(), &host.Task{
					Call: host.Call{Remote: true, Read: true, Budget: 60 * time.Second}, Attempt: func(context.Context, int64) (abi.Result, error) { return refused() },
				})
			})
		}
		calls.Wait()
	})
	counted, exhausted, last := 0, 0, ""
	for _, line := range lines() {
		switch text := line["msg"].(string); {
		case strings.Contains(text, "of them still do"):
			counted++
		case line["outcome"] == "exhausted":
			exhausted++
		default:
			last = text
		}
	}
	if counted < 4 || counted > 12 || exhausted != 50 || last != "outlast: 49 more calls waited; 49 exhausted" {
		t.Errorf("%d, %d, %q", counted, exhausted, last)
	}
}

// down is a server that is watched, and seen to be down.
type down struct{}

func (d down) Watch(bool, func()) host.Watch { return d }
func (down) Seen() host.Seen                 { return host.Seen{Down: true} }
func (down) Stop()                           {}

// An attempt that was announced and is left out is told of, once.
func TestLeftOut(t *testing.T) {
	plugin, lines := logged(t)
	_, err := plugin.Run(context.Background(), &host.Task{
		Call: host.Call{Remote: true, Read: true, Seed: new(int64), Budget: 20 * time.Second}, Clock: &virtual.Clock{}, Ready: down{},
		Attempt: func(context.Context, int64) (abi.Result, error) { return refused() },
	})
	if err == nil {
		t.Fatal("it succeeded")
	}
	told := 0
	for _, line := range lines() {
		if strings.Contains(line["msg"].(string), "the server is seen to be down: the next attempt is made when it is back") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times in %v", told, lines())
	}
}
