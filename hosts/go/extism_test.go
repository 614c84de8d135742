package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"outlast/abi"
	"outlast/abi/conformance"
)

// extismPlugin is the plugin in Extism's own Go SDK.
type extismPlugin struct {
	plugin *extism.Plugin
	host   conformance.Host // of the run that is under way
}

func (p *extismPlugin) Call(ctx context.Context, export string, input []byte, h conformance.Host) ([]byte, error) {
	p.host = h
	code, out, err := p.plugin.CallWithContext(ctx, export, input)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s returned %d", export, code)
	}
	return append([]byte(nil), out...), err
}

// functions are the host functions, with the SDK's own handling of memory.
func (p *extismPlugin) functions() []extism.HostFunction {
	function := func(name string, answer func(context.Context, []byte) []byte) extism.HostFunction {
		f := extism.NewHostFunctionWithStack(name, func(ctx context.Context, c *extism.CurrentPlugin, stack []uint64) {
			input, err := c.ReadBytes(stack[0])
			stack[0] = 0
			if err != nil {
				return
			}
			if out := answer(ctx, input); len(out) > 0 {
				if stack[0], err = c.WriteBytes(out); err != nil {
					stack[0] = 0
				}
			}
		}, []extism.ValueType{extism.ValueTypeI64}, []extism.ValueType{extism.ValueTypeI64})
		f.SetNamespace(abi.UserModule)
		return f
	}
	return []extism.HostFunction{
		function(abi.HostNow, func(ctx context.Context, _ []byte) []byte { return p.host.Now(ctx) }),
		function(abi.HostSleep, func(ctx context.Context, a []byte) []byte { return p.host.Sleep(ctx, a) }),
		function(abi.HostAttempt, func(ctx context.Context, a []byte) []byte { return p.host.Attempt(ctx, a) }),
	}
}

// The contract's cases pass in a host that nobody here has written.
func TestExtismGoSDK(t *testing.T) {
	p := &extismPlugin{}
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmFile{Path: "../../plugin/outlast.wasm"}}}
	config := extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfig()}
	var err error
	if p.plugin, err = extism.NewPlugin(t.Context(), manifest, config, p.functions()); err != nil {
		t.Fatal(err)
	}
	defer p.plugin.Close(context.Background())
	conformance.Run(t, p)
}

// A tool that cannot give host functions links the stub, as its manifest says.
func TestStub(t *testing.T) {
	text, err := os.ReadFile("../../plugin/outlast-stub.json")
	if err != nil {
		t.Fatal(err)
	}
	var linked struct {
		Wasm []struct{ Path, Name string }
	}
	if err := json.Unmarshal(text, &linked); err != nil {
		t.Fatal(err)
	}
	var manifest extism.Manifest
	for _, w := range linked.Wasm {
		manifest.Wasm = append(manifest.Wasm, extism.WasmFile{Path: filepath.Join("../../plugin", w.Path), Name: w.Name})
	}
	plugin, err := extism.NewPlugin(t.Context(), manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	one, seed := int64(1), int64(1)
	request := abi.DecideRequest{
		Policy: abi.PolicyRef{Name: "omnigraph"}, Call: abi.Call{Remote: true, ConnectRetry: true, Seed: &seed},
		Event: abi.Event{Type: abi.Attempted, Result: &abi.Result{ExitCode: &one, Stderr: abi.Clip("graph is loading")}},
	}
	_, out, err := plugin.Call(abi.ExportDecide, request.Encode())
	if err != nil {
		t.Fatal(err)
	}
	action, _, err := abi.DecodeDecision(string(out))
	if err != nil || action.Type != abi.Retry || action.Kind != "unavailable" {
		t.Errorf("%+v, %v", action, err)
	}
	// run has no host behind it, and says so instead of spinning.
	run := abi.RunRequest{Policy: request.Policy, Call: request.Call}
	if _, out, err = plugin.Call(abi.ExportRun, run.Encode()); err != nil || !strings.Contains(string(out), abi.CodeHostFailed) {
		t.Errorf("%s, %v", out, err)
	}
}
