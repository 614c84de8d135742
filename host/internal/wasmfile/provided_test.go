package wasmfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"outlast/host/internal/kernel"
)

// signatures are those of what a runtime module really offers.
func signatures(definitions map[string]api.FunctionDefinition) map[string]string {
	out := map[string]string{}
	for name, d := range definitions {
		var t FuncType
		for _, p := range d.ParamTypes() {
			t.Params = append(t.Params, ValueType(p))
		}
		for _, r := range d.ResultTypes() {
			t.Results = append(t.Results, ValueType(r))
		}
		out[name] = t.String()
	}
	return out
}

// TestProvidedIsWhatTheRuntimeHas compares the tables with the modules that
// the engine really gives a plugin.
func TestProvidedIsWhatTheRuntimeHas(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	if err := kernel.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{KernelModule, WASIModule} {
		got := signatures(r.Module(name).ExportedFunctionDefinitions())
		if diff := cmp.Diff(got, provided[name]); diff != "" {
			t.Errorf("%s (-runtime +table):\n%s", name, diff)
		}
	}
}
