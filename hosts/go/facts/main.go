// Facts prints what Extism's own Go SDK does with exports and host functions
// that misbehave, as a line "fact: ROW: WORDS" each, in words that come from
// what was seen. Run it in the repository's root: facts PROBE.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
)

const (
	ours      = "plugin/outlast.wasm"
	failed    = `{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"graph is loading"}}`
	threads   = 4
	decisions = 50
)

var (
	ctx     = context.Background()
	errBoom = errors.New("boom")
)

func main() {
	switch len(os.Args) {
	case 1: // see shared
		p := load(boom, boom)
		fmt.Println(wrong(func() *extism.Plugin { return p }))
		return
	case 2:
	default:
		fmt.Fprintln(os.Stderr, "usage: facts PROBE")
		os.Exit(2)
	}
	fact("code", code(os.Args[1]))
	fact("clock", clock(os.Args[1]))
	fact("missing", missing())
	fact("exception", exception())
	fact("cancelled", fmt.Sprintf("`%s`", must(run(ctx, load(cancelled, loading)))))
	fact("cancel", cancel())
	fact("shared", shared())
	fact("apart", apart())
}

func fact(row, words string) {
	fmt.Printf("fact: %s: %s\n", row, strings.ReplaceAll(words, "\n", " "))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type answer func() string

func boom() string      { panic(errBoom) }
func loading() string   { return failed }
func cancelled() string { return `{"wait":"cancelled","now_us":2}` }

func function(name string, says answer) extism.HostFunction {
	offset := []extism.ValueType{extism.ValueTypeI64}
	f := extism.NewHostFunctionWithStack(name, func(_ context.Context, p *extism.CurrentPlugin, stack []uint64) {
		stack[0] = must(p.WriteBytes([]byte(says())))
	}, offset, offset)
	f.SetNamespace("extism:host/user")
	return f
}

// compiled is a plugin to take instances of.
func compiled(path string, functions ...extism.HostFunction) (*extism.CompiledPlugin, error) {
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmFile{Path: path}}}
	config := extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfig()}
	return extism.NewCompiledPlugin(ctx, manifest, config, functions)
}

func load(sleep, attempt answer) *extism.Plugin {
	c := must(compiled(ours, function("outlast_now", boom), function("outlast_sleep", sleep), function("outlast_attempt", attempt)))
	return instance(c)
}

func instance(c *extism.CompiledPlugin) *extism.Plugin {
	return must(c.Instance(ctx, extism.PluginInstanceConfig{}))
}

// run is the outcome's type, or the error's code.
func run(ctx context.Context, p *extism.Plugin) (string, error) {
	request := `{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1,"started_us":0}}`
	_, out, err := p.CallWithContext(ctx, "run", []byte(request))
	if err != nil {
		return "", err
	}
	var a struct {
		OK    struct{ Outcome struct{ Type string } }
		Error struct{ Code string }
	}
	err = json.Unmarshal(out, &a)
	return a.OK.Outcome.Type + a.Error.Code, err
}

func decide(p *extism.Plugin, seed int) string {
	request := fmt.Appendf(nil, `{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":%d},"event":%s}`, seed, failed)
	_, out, err := p.Call("decide", request)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func code(probe string) string {
	code, out, err := instance(must(compiled(probe))).Call("seven", nil)
	if err != nil {
		return "an error, `" + err.Error() + "`"
	}
	return fmt.Sprintf("no error; the code, %d, beside the output, `%s`", code, out)
}

func clock(probe string) string {
	_, out, err := instance(must(compiled(probe))).Call("clock", nil)
	seen := time.Unix(0, int64(binary.LittleEndian.Uint64(out))).UTC()
	if d := time.Since(must(seen, err)); d > -10*time.Minute && d < 10*time.Minute {
		return "the real one"
	}
	return "a fake one, from " + seen.Format(time.DateOnly)
}

func missing() string {
	c, err := compiled(ours)
	if err == nil {
		_, err = c.Instance(ctx, extism.PluginInstanceConfig{})
	}
	switch {
	case err == nil:
		return "not noticed when it is loaded"
	case strings.Contains(err.Error(), "outlast_"):
		return "an error that names it"
	}
	return "an error that does not name it"
}

func exception() string {
	p := load(boom, boom)
	said, err := run(ctx, p)
	switch {
	case errors.Is(err, errBoom):
		said = "a panic is the call's error (`errors.Is` finds it)"
	case err != nil:
		said = "the call fails, without the panic's value"
	default:
		said = "swallowed; `run` ends with `" + said + "`"
	}
	return said + "; " + afterwards(p)
}

// afterwards says whether the instance still decides.
func afterwards(p *extism.Plugin) string {
	if strings.HasPrefix(decide(p, 1), `{"v":1,"ok"`) {
		return "the instance goes on"
	}
	return "the instance is lost"
}

func cancel() string {
	ctx, cancel := context.WithCancel(ctx)
	p := load(func() string {
		cancel()
		time.Sleep(time.Second)
		return `{"wait":"full","now_us":500001}`
	}, func() func() string {
		attempts := 0
		return func() string {
			if attempts++; attempts > 1 {
				return `{"type":"attempted","now_us":500001,"result":{"exit_code":0}}`
			}
			return failed
		}
	}())
	began := time.Now()
	said, err := run(ctx, p)
	when := "at once"
	if time.Since(began) > 900*time.Millisecond {
		when = "the host function is not ended"
	}
	if err != nil {
		said = err.Error()
	}
	return fmt.Sprintf("the context: %s, and the call ends with `%s`; %s", when, said, afterwards(p))
}

// wrong counts the wrong answers that threads get of the instances given.
func wrong(of func() *extism.Plugin) int {
	one := load(boom, boom)
	var want [decisions]string
	for seed := range want {
		want[seed] = decide(one, seed)
	}
	var wrong atomic.Int64
	var all sync.WaitGroup
	for range threads {
		p := of()
		all.Go(func() {
			for seed := range want {
				if attempted(p, seed) != want[seed] {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(wrong.Load())
}

func attempted(p *extism.Plugin, seed int) (said string) {
	defer func() {
		if v := recover(); v != nil {
			said = fmt.Sprint(v)
		}
	}()
	return decide(p, seed)
}

// shared asks in a process of its own, since that may crash, or never end.
func shared() string {
	for range 3 { // it is a matter of chance
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := exec.CommandContext(ctx, must(os.Executable())).Output()
		cancel()
		if err != nil || strings.TrimSpace(string(out)) != "0" {
			return "wrong answers, or the process crashes or never ends"
		}
	}
	return "nothing seen"
}

func apart() string {
	c := must(compiled(ours, function("outlast_now", boom), function("outlast_sleep", boom), function("outlast_attempt", boom)))
	if n := wrong(func() *extism.Plugin { return instance(c) }); n > 0 {
		return fmt.Sprintf("%d of %d wrong", n, threads*decisions)
	}
	return "all right"
}
