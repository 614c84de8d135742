package engine

import (
	"errors"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/host/internal/engine/testguest"
	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
)

func realPlugin(t testing.TB) []byte {
	t.Helper()
	wasm, err := testguest.Build()
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func TestVerifyAcceptsPlugins(t *testing.T) {
	if err := Verify(wasmtest.Plugin().Encode()); err != nil {
		t.Errorf("a small plugin: %v", err)
	}
	if err := Verify(realPlugin(t)); err != nil {
		t.Errorf("a plugin made by Go: %v", err)
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	i32 := []wasmfile.ValueType{wasmfile.I32}
	tests := map[string]struct {
		change func(*wasmtest.Module)
		want   []string
	}{
		"no marker": {
			func(m *wasmtest.Module) { m.Drop(abi.ExportMarker) },
			[]string{"the export outlast_abi_1, which marks a plugin of outlast, is missing"},
		},
		"another ABI": {
			func(m *wasmtest.Module) {
				m.Drop(abi.ExportMarker).Drop("decide") // which may have another name there
				m.Exports = append(m.Exports, wasmtest.Export{Name: "outlast_abi_2", Index: 5})
			},
			[]string{"it speaks ABI 2, this host speaks ABI 1"},
		},
		"not quite a marker": {
			func(m *wasmtest.Module) {
				m.Drop(abi.ExportMarker)
				m.Exports = append(m.Exports, wasmtest.Export{Name: "outlast_abi_01", Index: 5}, wasmtest.Export{Name: "outlast_abi_x", Index: 5})
			},
			[]string{"the export outlast_abi_1, which marks a plugin of outlast, is missing"},
		},
		"a marker that is no function": {
			func(m *wasmtest.Module) {
				pages := uint32(1)
				m.Memory = &pages
				m.Drop(abi.ExportMarker).Exports = append(m.Exports, wasmtest.Export{Name: abi.ExportMarker, Kind: wasmfile.Memory})
			},
			[]string{"the export outlast_abi_1, which marks a plugin of outlast, is missing"},
		},
		"missing exports": {
			func(m *wasmtest.Module) { m.Drop("check").Drop("run").Drop("_initialize") },
			[]string{"the export check is missing", "the export run is missing", "the export _initialize is missing, or is no function"},
		},
		"an export's signature": {
			func(m *wasmtest.Module) {
				m.Drop("decide").Exports = append(m.Exports, wasmtest.Export{Name: "decide", Index: 0})
			},
			[]string{"the export decide has the signature (i64) -> i64 instead of () -> i32"},
		},
		"initialize's signature": {
			func(m *wasmtest.Module) {
				m.Drop("_initialize").Exports = append(m.Exports, wasmtest.Export{Name: "_initialize", Index: 6})
			},
			[]string{"the export _initialize has the signature () -> i32 instead of () -> ()"},
		},
		"an export's kind": {
			func(m *wasmtest.Module) {
				pages := uint32(1)
				m.Memory = &pages
				m.Drop("run").Exports = append(m.Exports, wasmtest.Export{Name: "run", Kind: wasmfile.Memory})
			},
			[]string{"the export run is missing, or is no function"},
		},
		"an unknown function": {
			func(m *wasmtest.Module) { m.Imports[0].Name = "http_request" },
			[]string{`imports the function "extism:host/env"."http_request", which this host does not provide`},
		},
		"the function that only hosts call": {
			func(m *wasmtest.Module) { m.Imports[0].Name = "input" },
			[]string{`imports the function "extism:host/env"."input", which this host does not provide`},
		},
		"an unknown module": {
			func(m *wasmtest.Module) { m.Imports[0].Module = "env" },
			[]string{`"env"."alloc", which this host does not provide`},
		},
		"an unknown WASI function": {
			func(m *wasmtest.Module) {
				m.Imports[0].Module, m.Imports[0].Name = "wasi_snapshot_preview1", "fd_teleport"
			},
			[]string{`"wasi_snapshot_preview1"."fd_teleport", which this host does not provide`},
		},
		"a fourth host function": {
			func(m *wasmtest.Module) { m.Imports[4].Name = "outlast_log" },
			[]string{`"extism:host/user"."outlast_log", which this host does not provide`},
		},
		"an import's signature": {
			func(m *wasmtest.Module) {
				m.Types = append(m.Types, wasmfile.FuncType{Params: i32, Results: i32})
				m.Imports[3].Type = uint32(len(m.Types) - 1)
			},
			[]string{`"extism:host/user"."outlast_sleep" with the signature (i32) -> i32 instead of (i64) -> i64`},
		},
		"an import's kind": {
			func(m *wasmtest.Module) {
				m.Imports = append(m.Imports, wasmtest.Import{Module: "env", Name: "memory", Kind: wasmfile.Memory, Desc: []byte{0, 1}})
			},
			[]string{`it imports the memory "env"."memory"; this host provides functions only`},
		},
		"many things": {
			func(m *wasmtest.Module) {
				m.Drop("describe")
				for i := range m.Imports {
					m.Imports[i].Module = strings.Repeat("long", 1000)
				}
				m.Imports = append(m.Imports, m.Imports...)
				m.Imports[0].Name, m.Imports[1].Name, m.Imports[2].Name, m.Imports[3].Name = "a", "b", "c", "d"
				m.Funcs[0].Type = wasmtest.TypeInit
			},
			[]string{"the export describe is missing", `long"."a"`, "and 1 imports more"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := wasmtest.Plugin()
			test.change(m)
			err := Verify(m.Encode())
			var e *AbiError
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an AbiError", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want it to say %q", err, want)
				}
			}
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestVerifyAcceptsAPluginOfSeveralABIs: only this contract's marker counts.
func TestVerifyAcceptsAPluginOfSeveralABIs(t *testing.T) {
	m := wasmtest.Plugin()
	m.Exports = append(m.Exports, wasmtest.Export{Name: "outlast_abi_2", Index: uint32(len(m.Imports))})
	if err := Verify(m.Encode()); err != nil {
		t.Error(err)
	}
}

// TestVerifyNoticesTruncation cuts a real plugin at many places, most of them
// within its code.
func TestVerifyNoticesTruncation(t *testing.T) {
	wasm := realPlugin(t)
	for cut := 0; cut < len(wasm); cut += len(wasm) / 100 {
		if err := Verify(wasm[:cut]); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("cut at %d of %d: %v", cut, len(wasm), err)
		}
	}
}

// A file that is no module at all is refused in one line.
func TestVerifyRefusesWhatIsNoModule(t *testing.T) {
	oneType, oneFunc := wasmtest.Section(nil, 1, []byte{1, 0x60, 0, 0}), wasmtest.Section(nil, 3, []byte{1, 0})
	for _, text := range []string{"", "(module)", "\x00asm\x01\x00\x00\x00\x63\x00", "\x00asm\x01\x00\x00\x00" + string(oneType) + string(oneFunc), "\x00asm\x01\x00\x00\x00" + string(oneType) + string(oneType)} {
		var abi *AbiError
		if err := Verify([]byte(text)); err == nil || errors.As(err, &abi) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
