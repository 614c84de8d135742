package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// Where the linked code decides, WarmUp, Run and sessions load nothing; RunInPlugin
// and whoever asks for an engine load the plugin.
func TestWhatLoadsThePlugin(t *testing.T) {
	for name, test := range map[string]struct {
		run   run
		opts  []host.Option
		loads bool
	}{
		"Run":                    {runs["Run"], nil, false},
		"Run, interpreted":       {runs["Run"], []host.Option{host.WithInterpreter()}, true},
		"Run, of a file":         {runs["Run"], []host.Option{host.WithFile("../plugin/outlast.wasm")}, true},
		"RunInPlugin":            {runs["RunInPlugin"], nil, true},
		"RunInPlugin, of a file": {runs["RunInPlugin"], []host.Option{host.WithFile("../plugin/outlast.wasm")}, true},
	} {
		p := must(host.Open(test.opts...))
		if !test.loads {
			if err := p.WarmUp(t.Context()); err != nil {
				t.Error(err)
			}
		}
		task, starts := outageTask(&virtual.Clock{}, 5*time.Second, 0)
		loaded := false
		task.Observe = func(e host.Event) {
			if _, ok := e.(host.Loaded); ok {
				loaded = true
			}
		}
		if _, err := test.run(p, t.Context(), task); err != nil || len(*starts) < 3 || loaded != test.loads {
			t.Errorf("%s: loaded: %t, attempts at %v, %v", name, loaded, *starts, err)
		}
		p.Close(context.Background())
	}
}

// The linked code decides as the plugin, byte for byte: random calls, policies and
// events, also those that no sound host sends, and states that were spoilt.
func TestLinkedAsThePlugin(t *testing.T) {
	policies := map[string][]string{}
	drawn := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{"omnigraph", "witan-core", "network"}).Draw(r, "policy")
		p := must(host.BuiltIn(name))
		if policies[name] == nil {
			policies[name] = wordsOf(p.Document())
		}
		if rapid.Bool().Draw(r, "as a document") {
			p = must(p.WithMaxWait(time.Duration(rapid.IntRange(1, 90).Draw(r, "max wait")) * time.Second))
		}
		call := drawCall(r)
		sessions := []*host.Session{linked.Session(p, call), compiled.Session(p, call)}
		now := int64(0)
		for range rapid.IntRange(1, 8).Draw(r, "events") {
			now += rapid.SampledFrom([]int64{0, 1, 400_000, 5_000_000, 200_000_000, -3_000_000}).Draw(r, "step")
			event := drawEvent(r, now, policies[name])
			if rapid.IntRange(0, 19).Draw(r, "spoil") == 0 {
				spoilt := spoil(r, *sessions[0].State())
				*sessions[0].State(), *sessions[1].State() = spoilt, spoilt
			}
			var said [2]string
			var action abi.Action
			var err error
			for i, s := range sessions {
				action, err = s.Next(t.Context(), event)
				said[i] = fmt.Sprintf("%s %s %v", action.Encode(), *s.State(), err)
			}
			if said[0] != said[1] {
				r.Fatalf("linked:  %s\nplugin:  %s", said[0], said[1])
			}
			if err != nil {
				drawn["error"]++
				return
			}
			drawn[string(action.Type)]++
			if action.Type == abi.Stop {
				return
			}
		}
	})
	for _, what := range []string{"error", string(abi.Retry), string(abi.Stop)} {
		if drawn[what] == 0 {
			t.Errorf("never drawn: %s of %v", what, drawn)
		}
	}
}

// The same of explanations, which say which rule matched and why.
func TestLinkedExplainsAsThePlugin(t *testing.T) {
	words := wordsOf(omnigraph.Document())
	rapid.Check(t, func(r *rapid.T) {
		call, result := drawCall(r), drawFailure(r, words)
		var said [2]string
		for i, p := range []*host.Plugin{linked, compiled} {
			action, err := p.Explain(t.Context(), omnigraph, call, result)
			said[i] = fmt.Sprintf("%s %v", action.Encode(), err)
		}
		if said[0] != said[1] {
			r.Fatalf("linked:  %s\nplugin:  %s", said[0], said[1])
		}
	})
}

// drawEvent is an event that may follow any other, or may not.
func drawEvent(r *rapid.T, now int64, words []string) abi.Event {
	e := abi.Event{Type: abi.Attempted, NowUS: now}
	if rapid.IntRange(0, 2).Draw(r, "another event") == 0 {
		e.Type = rapid.SampledFrom([]abi.EventType{abi.Woken, abi.Down, abi.NotReady, abi.Repaired, abi.Cancelled, "unheard of"}).Draw(r, "event")
	}
	switch e.Type {
	case abi.Woken:
		e.By = rapid.SampledFrom([]abi.Readiness{abi.Accepting, abi.Ready, ""}).Draw(r, "by")
	case abi.Attempted, abi.Repaired:
		result := drawFailure(r, words)
		e.Result = &result
	}
	if rapid.Bool().Draw(r, "chance") {
		e.Random = new(rapid.Int64Range(0, 1<<32-1).Draw(r, "random"))
	}
	return e
}

// spoil changes a byte of a state, or cuts it.
func spoil(r *rapid.T, state string) string {
	if state == "" {
		return "nonsense"
	}
	at := rapid.IntRange(0, len(state)-1).Draw(r, "at")
	return state[:at] + rapid.SampledFrom([]string{"", "x", "9"}).Draw(r, "with") + state[min(at+1, len(state)):]
}

func drawCall(r *rapid.T) host.Call {
	flag := func(name string) bool { return rapid.Bool().Draw(r, name) }
	return host.Call{
		Label: "call", Seed: new(int64), Remote: flag("remote"), Read: flag("read"),
		SurfaceConflict: flag("surface conflict"), NoConnectRetry: flag("no connect retry"),
		Repeatable: flag("repeatable"), OneRequest: rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(r, "one request"),
	}
}

// drawFailure is the result of an attempt that failed, or may have: what it
// printed is made of the words that the policy looks for.
func drawFailure(r *rapid.T, words []string) abi.Result {
	glue := []string{"Error: ", "Error: \n   0: ", "\n   1: ", "\n   2: ", "\n\nLocation:\n", "\n", " ", "x", "\x1b[31m", "\xff",
		`{"error":{"message":"`, `","effects":"none"}}`, `"request_dispatched":false`, "client error (Connect)", "tcp connect error"}
	text := func(name string) abi.Text {
		parts := rapid.SliceOfN(rapid.SampledFrom(append(glue, words...)), 0, 8).Draw(r, name)
		return abi.Text{Head: strings.Join(parts, "")}
	}
	result := abi.Result{
		Stderr: text("stderr"), Streamed: rapid.IntRange(0, 9).Draw(r, "streamed") == 0,
		Sent: rapid.SampledFrom([]abi.Sent{"", abi.SentUnknown, abi.SentNo, abi.SentYes}).Draw(r, "sent"),
	}
	number := func(name string, list ...int64) *int64 {
		n := rapid.SampledFrom(list).Draw(r, name)
		return &n
	}
	switch rapid.IntRange(0, 5).Draw(r, "kind") {
	case 0:
		result.Signal = "SIGSEGV"
	case 1:
		result.HTTPStatus, result.Message, result.Stderr = number("status", 400, 412, 429, 500, 502, 503, 504), text("message"), abi.Text{}
	case 2:
		result.TimedOut, result.ExitCode = true, number("exit", 1, 124)
	default:
		result.ExitCode, result.Stdout = number("exit", 1, 2, 4, 75, 101, 0, -1), text("stdout")
	}
	return result
}

// wordsOf are all texts in a document: what its rules look for is among them.
func wordsOf(document string) []string {
	var words []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		panic(err)
	}
	walk(v)
	slices.Sort(words)
	return slices.Compact(words)
}
