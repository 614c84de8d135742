package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/otel"
)

var update = flag.Bool("update", false, "write the trace that other languages' traces are compared with")

// span is a span in the form in which traces of all languages are kept.
type span struct {
	Name       string         `json:"name"`
	Parent     string         `json:"parent"`
	Links      []int64        `json:"links"` // the attempts that it is linked to
	Attributes map[string]any `json:"attributes"`
	Status     string         `json:"status"`
}

// traced makes a call whose spans are recorded, in the order in which they began.
func traced(t *testing.T, task *host.Task) (trace.Tracer, []sdktrace.ReadOnlySpan, error) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	plugin, err := host.Open(host.WithMiddleware(otel.Traces(provider)))
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	_, err = plugin.Run(context.Background(), task)
	if n := len(recorder.Ended()); n != len(recorder.Started()) {
		t.Errorf("%d of %d spans have ended", n, len(recorder.Started()))
	}
	var spans []sdktrace.ReadOnlySpan
	for _, s := range recorder.Started() {
		spans = append(spans, s)
	}
	return provider.Tracer("client"), spans, err
}

func normal(spans []sdktrace.ReadOnlySpan) (list []span) {
	names, numbers := map[trace.SpanID]string{}, map[trace.SpanID]int64{}
	for _, s := range spans {
		id := s.SpanContext().SpanID()
		n := span{Name: s.Name(), Parent: names[s.Parent().SpanID()], Links: []int64{}, Attributes: map[string]any{}}
		names[id] = s.Name()
		for _, a := range s.Attributes() {
			n.Attributes[string(a.Key)] = a.Value.AsInterface()
			if a.Key == "outlast.attempt" {
				numbers[id] = a.Value.AsInt64()
			}
		}
		for _, l := range s.Links() {
			n.Links = append(n.Links, numbers[l.SpanContext.SpanID()])
		}
		n.Status = map[codes.Code]string{codes.Unset: "unset", codes.Error: "error", codes.Ok: "ok"}[s.Status().Code]
		list = append(list, n)
	}
	return list
}

func status(code int64) abi.Result { return abi.Result{HTTPStatus: &code} }

func refused() (abi.Result, error) {
	return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo}, syscall.ECONNREFUSED
}

// riddenOut is refused twice, and told to come back in 2 s, before it succeeds.
func riddenOut() *host.Task {
	seed, soon := int64(7), (2 * time.Second).Microseconds()
	return &host.Task{
		Call:  host.Call{Label: "items", Remote: true, Read: true, Seed: &seed},
		Clock: &virtual.Clock{},
		Attempt: func(_ context.Context, n int64) (abi.Result, error) {
			switch n {
			case 1, 2:
				return refused()
			case 3:
				busy := status(503)
				busy.RetryAfterUS = &soon
				return busy, nil
			}
			return status(200), nil
		},
	}
}

// The trace is the one that is kept beside those of Python and Node.
func TestTheTraceOfACallThatIsRiddenOut(t *testing.T) {
	_, spans, err := traced(t, riddenOut())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(normal(spans), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "../tests/traces/go.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(got)+"\n" != string(want) {
		t.Errorf("%v: %s", err, got)
	}
}

// The spans of an attempt's client are its children, and an attempt's time is its own,
// without the wait after it.
func TestAttemptsRunInTheirSpans(t *testing.T) {
	var tracer trace.Tracer
	tracer, spans, err := traced(t, &host.Task{
		Call: host.Call{Remote: true, Read: true},
		Attempt: func(ctx context.Context, n int64) (abi.Result, error) {
			_, client := trace.SpanFromContext(ctx).TracerProvider().Tracer("client").Start(ctx, "GET")
			client.End()
			if n == 1 {
				return refused()
			}
			return status(200), nil
		},
	})
	if err != nil || tracer == nil {
		t.Fatal(err)
	}
	var parents []string
	for _, s := range normal(spans) {
		parents = append(parents, s.Name+" in "+s.Parent)
	}
	want := []string{
		"outlast.call in ", "outlast.attempt in outlast.call", "GET in outlast.attempt",
		"outlast.attempt in outlast.call", "GET in outlast.attempt",
	}
	if got, wanted := toJSON(t, parents), toJSON(t, want); got != wanted {
		t.Errorf("%s", got)
	}
	call, first := spans[0], spans[1]
	waited := call.EndTime().Sub(call.StartTime())
	if took := first.EndTime().Sub(first.StartTime()); took < 0 || took > waited/2 {
		t.Errorf("the first attempt took %v of %v", took, waited)
	}
}

// Each way in which a call ends without success is an error, of which the class is
// told, and each span ends.
func TestCallsThatFail(t *testing.T) {
	broken := errors.New("the request cannot be made")
	for name, c := range map[string]struct {
		attempt  func(context.Context, int64) (abi.Result, error)
		call     map[string]any
		attempts map[string]any // of the last attempt
	}{
		"a write in doubt": {
			func(context.Context, int64) (abi.Result, error) {
				return abi.Result{Failure: abi.FailureBroke, OnlyRequest: true}, syscall.ECONNRESET
			},
			map[string]any{"outlast.outcome": "indeterminate", "outlast.effects": "unknown", "error.type": "indeterminate"},
			map[string]any{"error.type": "syscall.Errno"},
		},
		"a refusal of a read": {
			func(context.Context, int64) (abi.Result, error) { return status(404), nil },
			map[string]any{"outlast.outcome": "failed", "error.type": "failed"},
			map[string]any{"error.type": "404", "http.response.status_code": int64(404)},
		},
		"no attempt": {
			func(context.Context, int64) (abi.Result, error) { return abi.Result{}, broken },
			map[string]any{"error.type": "*errors.errorString"}, map[string]any{},
		},
	} {
		_, spans, err := traced(t, &host.Task{Call: host.Call{Remote: true, Read: name == "a refusal of a read"}, Clock: &virtual.Clock{}, Attempt: c.attempt})
		if err == nil || len(spans) < 2 {
			t.Fatalf("%s: %v, %d spans", name, err, len(spans))
		}
		list := normal(spans)
		for i, want := range map[int]map[string]any{0: c.call, len(list) - 1: c.attempts} {
			if list[i].Status != "error" {
				t.Errorf("%s: %+v", name, list[i])
			}
			for key, value := range want {
				if list[i].Attributes[key] != value {
					t.Errorf("%s: %s is %v in %+v", name, key, list[i].Attributes[key], list[i])
				}
			}
		}
	}
}

// An attempt that panics leaves no span open.
func TestAnAttemptThatPanics(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	plugin, err := host.Open(host.WithMiddleware(otel.Traces(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))))
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_, _ = plugin.Run(context.Background(), &host.Task{Attempt: func(context.Context, int64) (abi.Result, error) { panic("no") }})
	}()
	if len(recorder.Ended()) != 2 {
		t.Errorf("%d spans have ended", len(recorder.Ended()))
	}
}

// Goroutines share what the global provider gives, with the race detector looking.
func TestManyAtOnce(t *testing.T) {
	plugin, err := host.Open(host.WithMiddleware(otel.Traces(nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	status := int64(200)
	task := &host.Task{Attempt: func(context.Context, int64) (abi.Result, error) { return abi.Result{HTTPStatus: &status}, nil }}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := plugin.Run(context.Background(), task); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// What the spans have is what abi/telemetry.json names, of the types that it names.
func TestAttributesAreTheContracts(t *testing.T) {
	text, err := os.ReadFile("../abi/telemetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Spans []struct {
			Name       string
			Attributes []struct{ Name, Type string }
		}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, s := range said.Spans {
		for _, a := range s.Attributes {
			known[s.Name+" "+a.Name] = a.Type
		}
	}
	_, spans, err := traced(t, riddenOut())
	if err != nil {
		t.Fatal(err)
	}
	types := map[attribute.Type]string{attribute.STRING: "string", attribute.INT64: "int", attribute.FLOAT64: "double"}
	for _, s := range spans {
		for _, a := range s.Attributes() {
			if got := types[a.Value.Type()]; got != known[s.Name()+" "+string(a.Key)] {
				t.Errorf("%s: %s is %q", s.Name(), a.Key, got)
			}
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
