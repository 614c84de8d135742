package wasmfile_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
)

// FuzzVerify: whatever the file holds, there is an answer; a fault lies within
// the file; and a file that a real runtime accepts too is read in the same way.
func FuzzVerify(f *testing.F) {
	f.Add(wasmtest.Plugin().Encode())
	f.Add(wasmtest.Plugin().Drop("run").Encode())
	f.Add(raw(section(1, 1, 0x60, 0, 0), section(3, 1, 0), section(10, 1, 2, 0, 0x0b)))
	f.Add(raw(section(2, 1, 1, 'm', 1, 'm', 2, 1, 1, 2)))
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
	f.Cleanup(func() { r.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		err := wasmfile.Verify(wasm)
		var e *wasmfile.FormatError
		if errors.As(err, &e) && (e.Offset < 0 || e.Offset > len(wasm)) {
			t.Errorf("the fault is at byte %d of %d", e.Offset, len(wasm))
		}
		m, err := wasmfile.Parse(wasm)
		if err != nil || bytes.Contains(wasm, []byte("\x04name")) {
			return // the runtime allocates whatever a broken file announces
		}
		compiled, err := r.CompileModule(ctx, wasm)
		if err != nil {
			return
		}
		defer compiled.Close(ctx)
		exports := compiled.ExportedFunctions()
		for _, e := range m.Exports {
			if e.Kind != wasmfile.Func {
				continue
			}
			d := exports[e.Name]
			if d == nil || len(d.ParamTypes()) != len(e.Type.Params) || len(d.ResultTypes()) != len(e.Type.Results) {
				t.Errorf("export %q is %s, the runtime has %v", e.Name, e.Type, d)
			}
			delete(exports, e.Name)
		}
		for name := range exports {
			t.Errorf("export %q was not found", name)
		}
	})
}

// TestParseRefusesNothingThatIsValid draws modules and asks a real runtime.
func TestParseRefusesNothingThatIsValid(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	rapid.Check(t, func(t *rapid.T) {
		wasm := drawModule(t).Encode()
		compiled, err := r.CompileModule(ctx, wasm)
		if err != nil {
			t.Fatalf("the test drew an invalid module: %v", err)
		}
		defer compiled.Close(ctx)
		m, err := wasmfile.Parse(wasm)
		if err != nil {
			t.Fatal(err)
		}
		if len(compiled.ExportedFunctions())+len(compiled.ExportedMemories()) != len(m.Exports) {
			t.Errorf("exports: %v, the runtime has %v", m.Exports, compiled.ExportedFunctions())
		}
	})
}

func drawModule(t *rapid.T) *wasmtest.Module {
	types := rapid.SampledFrom([]wasmfile.ValueType{wasmfile.I32, wasmfile.I64, wasmfile.F32, wasmfile.F64, wasmfile.FuncRef, wasmfile.ExternRef, wasmfile.V128})
	list := rapid.SliceOfN(types, 0, 5)
	m := &wasmtest.Module{}
	for range rapid.IntRange(1, 5).Draw(t, "types") {
		m.Types = append(m.Types, wasmfile.FuncType{Params: list.Draw(t, "params"), Results: list.Draw(t, "results")})
	}
	someType := rapid.Uint32Range(0, uint32(len(m.Types)-1))
	for range rapid.IntRange(0, 4).Draw(t, "imports") {
		i := rapid.SampledFrom([]wasmtest.Import{
			{Kind: wasmfile.Func},
			{Kind: wasmfile.Table, Desc: []byte{byte(wasmfile.FuncRef), 1, 1, 2}},
			{Kind: wasmfile.Global, Desc: []byte{byte(wasmfile.I64), 1}},
		}).Draw(t, "import")
		i.Module, i.Name = rapid.StringN(1, 10, 300).Draw(t, "module"), rapid.String().Draw(t, "name")
		if i.Kind == wasmfile.Func {
			i.Type = someType.Draw(t, "import's type")
		}
		m.Imports = append(m.Imports, i)
	}
	functions := uint32(0)
	for _, i := range m.Imports {
		if i.Kind == wasmfile.Func {
			functions++
		}
	}
	for range rapid.IntRange(0, 200).Draw(t, "functions") {
		m.Funcs = append(m.Funcs, wasmtest.Func{Type: someType.Draw(t, "type")})
		functions++
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID).Draw(t, "exports") {
		if functions > 0 {
			m.Exports = append(m.Exports, wasmtest.Export{Name: name, Index: rapid.Uint32Range(0, functions-1).Draw(t, "index")})
		}
	}
	if rapid.Bool().Draw(t, "custom") {
		m.Sections = wasmtest.Section(nil, 0, append(wasmtest.Name(nil, "producers"), rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "bytes")...))
	}
	return m
}
