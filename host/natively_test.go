package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/plugin"
)

// A command that fails for good does not wait for the plugin.
func TestForGoodWithoutThePlugin(t *testing.T) {
	throughBoth(t, func(t *testing.T, d door) {
		p, err := host.Open(host.WithInterpreter())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close(context.Background())
		for _, test := range []struct {
			first abi.Result
			loads bool
		}{{exited(2, "error: unexpected argument"), false}, {refused(), true}} {
			loaded, attempts := false, 0
			outcome, err := d.run(p, t.Context(), &host.Task{
				Policy: omnigraph,
				Call:   host.Call{Remote: true, Read: true, Seed: new(int64)}, Clock: &virtual.Clock{},
				Attempt: func(context.Context, int64) (abi.Result, error) {
					if attempts++; attempts > 1 {
						return succeeded(), nil
					}
					return test.first, nil
				},
				Observe: func(e host.Event) {
					if _, ok := e.(host.Loaded); ok {
						loaded = true
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if loaded != test.loads {
				t.Errorf("exit code %d: the plugin was loaded: %t; %+v", *test.first.ExitCode, loaded, outcome)
			}
		}
	})
}

// What is decided without the plugin is what the plugin decides: the embedded
// one and the same one from a file, which is always asked, come to the same
// outcome, whatever the first attempt came to.
func TestNativelyAsThePlugin(t *testing.T) {
	asked := fromFile(t)
	names := []string{"omnigraph", "witan-core"}
	ended, continued := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		policy := must(host.BuiltIn(rapid.SampledFrom(names).Draw(r, "policy")))
		call := drawCall(r)
		first := drawFailure(r, wordsOf(policy.Document()))
		cancel := rapid.IntRange(0, 9).Draw(r, "cancel") == 0
		for _, d := range doors {
			var outcomes [2]*abi.Outcome
			var attempts [2]int
			for i, p := range []*host.Plugin{compiled, asked} {
				ctx, stop := context.WithCancel(t.Context())
				var err error
				outcomes[i], err = d.run(p, ctx, &host.Task{
					Policy: policy, Call: call, Clock: &virtual.Clock{},
					Attempt: func(context.Context, int64) (abi.Result, error) {
						if attempts[i]++; attempts[i] > 1 {
							return succeeded(), nil
						}
						if cancel {
							stop()
						}
						return first, nil
					},
					Repair: func(context.Context, bool) (abi.Result, error) { return succeeded(), nil },
				})
				stop()
				if err != nil {
					r.Fatalf("%s: %v", d.name, err)
				}
			}
			if diff := cmp.Diff(outcomes[1], outcomes[0]); diff != "" || attempts[0] != attempts[1] {
				r.Fatalf("%s: %v attempts; the plugin (-) and what was decided without it (+):\n%s", d.name, attempts, diff)
			}
		}
		if first.OK() {
			return
		}
		if cancel {
			return
		}
		if outcome, _ := compiled.Run(t.Context(), once(policy, call, first)); outcome.Attempts > 1 {
			continued++
		} else {
			ended++
		}
	})
	if ended == 0 || continued == 0 {
		t.Errorf("%d calls ended with their first attempt, %d went on: both must be tried", ended, continued)
	}
}

// once is a task whose second attempt succeeds.
func once(policy *host.Policy, call host.Call, first abi.Result) *host.Task {
	return &host.Task{
		Policy: policy, Call: call, Clock: &virtual.Clock{},
		Attempt: func(_ context.Context, n int64) (abi.Result, error) {
			if n > 1 {
				return succeeded(), nil
			}
			return first, nil
		},
	}
}

// fromFile is the embedded plugin as one of a file.
func fromFile(t *testing.T) *host.Plugin {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.wasm")
	if err := os.WriteFile(path, plugin.Wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := host.Open(host.WithFile(path), host.WithCacheDir(""), host.WithCompiler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
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

// The cache is filled in waits that are long enough for it, and a call with
// shorter ones burns no processor for what it could not finish.
func TestShortWaitsFillNoCache(t *testing.T) {
	throughBoth(t, func(t *testing.T, d door) {
		for _, test := range []struct {
			outage time.Duration
			fills  bool
		}{{400 * time.Millisecond, false}, {5 * time.Second, true}} {
			cache := filepath.Join(t.TempDir(), "cache")
			p, err := host.Open(host.WithCacheDir(cache))
			if err != nil {
				t.Fatal(err)
			}
			task, starts := outageTask(&virtual.Clock{}, test.outage, 0)
			outcome, err := d.run(p, t.Context(), task)
			p.Close(context.Background())
			if err != nil || outcome.Type != abi.OutcomeOK || len(*starts) < 2 {
				t.Fatalf("%+v, %v, attempts at %v", outcome, err, *starts)
			}
			if _, err := os.Stat(cache); (err == nil) != test.fills {
				t.Errorf("after an outage of %v the cache is there: %t, want %t", test.outage, err == nil, test.fills)
			}
		}
	})
}
