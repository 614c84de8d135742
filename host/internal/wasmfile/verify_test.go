package wasmfile_test

import (
	"errors"
	"math/rand/v2"
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
	if err := wasmfile.Verify(wasmtest.Plugin().Encode()); err != nil {
		t.Errorf("a small plugin: %v", err)
	}
	if err := wasmfile.Verify(realPlugin(t)); err != nil {
		t.Errorf("a plugin made by Go: %v", err)
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	f32 := []wasmfile.ValueType{wasmfile.F32}
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
			[]string{"the export outlast_abi_1 is a memory, not a function"},
		},
		"missing exports": {
			func(m *wasmtest.Module) { m.Drop("check").Drop("run").Drop("_initialize") },
			[]string{"the export check is missing", "the export run is missing", "the export _initialize is missing"},
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
			[]string{"the export run is a memory, not a function"},
		},
		"an unknown function": {
			func(m *wasmtest.Module) { m.Imports[0].Name = "http_request" },
			[]string{`imports the function "extism:host/env"."http_request", which this host does not provide`},
		},
		"an unknown module": {
			func(m *wasmtest.Module) { m.Imports[0].Module = "env" },
			[]string{`"env"."alloc", which this host does not provide`},
		},
		"an unknown WASI function": {
			func(m *wasmtest.Module) { m.Imports[0].Module, m.Imports[0].Name = wasmfile.WASIModule, "fd_teleport" },
			[]string{`"wasi_snapshot_preview1"."fd_teleport", which this host does not provide`},
		},
		"a fourth host function": {
			func(m *wasmtest.Module) { m.Imports[4].Name = "outlast_log" },
			[]string{`"extism:host/user"."outlast_log", which this host does not provide`},
		},
		"an import's signature": {
			func(m *wasmtest.Module) {
				m.Types = append(m.Types, wasmfile.FuncType{Params: f32, Results: f32})
				m.Imports[3].Type = uint32(len(m.Types) - 1)
			},
			[]string{`"extism:host/user"."outlast_sleep" with the signature (f32) -> f32 instead of (i64) -> i64`},
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
			[]string{"the export describe is missing", `…"."a"`, "and 1 imports more"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := wasmtest.Plugin()
			test.change(m)
			err := wasmfile.Verify(m.Encode())
			var e *wasmfile.AbiError
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
	if err := wasmfile.Verify(m.Encode()); err != nil {
		t.Error(err)
	}
}

// boundaries gives where each section starts, by its number, and the file's
// end under -1. It is written apart from the package's own reader.
func boundaries(wasm []byte) (starts []int, code int) {
	at := 8
	for at < len(wasm) {
		starts = append(starts, at)
		id := wasm[at]
		size, shift := 0, 0
		for at++; ; at++ {
			size |= int(wasm[at]&0x7f) << shift
			shift += 7
			if wasm[at] < 0x80 {
				break
			}
		}
		at += 1 + size
		if id == 10 {
			code = at
		}
	}
	return append(starts, len(wasm)), code
}

// TestVerifyNoticesTruncation cuts a real plugin at each boundary between
// sections, and around it.
func TestVerifyNoticesTruncation(t *testing.T) {
	wasm := realPlugin(t)
	starts, codeEnd := boundaries(wasm)
	if len(starts) < 9 || starts[len(starts)-1] != len(wasm) {
		t.Fatalf("found the sections at %d", starts)
	}
	isStart := map[int]bool{}
	for _, at := range starts {
		isStart[at] = true
	}
	for _, at := range starts {
		for _, cut := range []int{at - 1, at, at + 1, at + 2} {
			if cut >= len(wasm) {
				continue
			}
			err := wasmfile.Verify(wasm[:cut])
			// Between sections behind the code there is nothing to notice.
			if whole := isStart[cut] && cut >= codeEnd; (err == nil) != whole {
				t.Errorf("cut at %d of %d: error = %v", cut, len(wasm), err)
			}
			var e *wasmfile.FormatError
			if err != nil && !errors.As(err, &e) && cut > starts[0] {
				continue // cut so early that exports are missing
			}
			if err != nil && e != nil && e.Offset > cut {
				t.Errorf("cut at %d: the fault is said to be at byte %d", cut, e.Offset)
			}
		}
	}
	for cut := 0; cut < len(wasm); cut += 997 {
		if err := wasmfile.Verify(wasm[:cut]); err == nil && !isStart[cut] {
			t.Errorf("cut at %d of %d: no error", cut, len(wasm))
		}
	}
}

// TestVerifySurvivesBitFlips flips bits at random, mostly where the package
// looks. Some leave a plugin; none may panic.
func TestVerifySurvivesBitFlips(t *testing.T) {
	wasm := realPlugin(t)
	starts, _ := boundaries(wasm)
	head := starts[min(8, len(starts)-1)]
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 3000 {
		at := random.IntN(head)
		if random.IntN(4) == 0 {
			at = random.IntN(len(wasm))
		}
		bit := byte(1) << random.IntN(8)
		wasm[at] ^= bit
		if wasmfile.Verify(wasm) != nil {
			refused++
		}
		wasm[at] ^= bit
	}
	if refused < 100 {
		t.Errorf("only %d of 3000 flips were noticed", refused)
	}
	if err := wasmfile.Verify(wasm); err != nil {
		t.Errorf("the flips were not undone: %v", err)
	}
}
