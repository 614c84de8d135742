package wasmtest

import (
	"bytes"
	"testing"

	"github.com/tetratelabs/wazero"

	"outlast/host/internal/wasmfile"
)

// TestEncodeIsWebAssembly has a real runtime read what is assembled.
func TestEncodeIsWebAssembly(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	pages := uint32(300)
	for name, m := range map[string]*Module{
		"empty":  {},
		"memory": {Memory: &pages, Exports: []Export{{Name: "memory", Kind: wasmfile.Memory}}},
		"custom": {Sections: Section(nil, 0, append(Name(nil, "note"), 1))},
		"plugin": Plugin(),
		"padded": Plugin().Pad(300),
	} {
		compiled, err := r.CompileModule(ctx, m.Encode())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		exports := len(compiled.ExportedFunctions()) + len(compiled.ExportedMemories())
		if exports != len(m.Exports) || len(compiled.ImportedFunctions()) != len(m.Imports) {
			t.Errorf("%s: %d exports, %d imports", name, exports, len(compiled.ImportedFunctions()))
		}
		compiled.Close(ctx)
	}
}

func TestUint(t *testing.T) {
	for n, want := range map[uint64][]byte{0: {0}, 127: {0x7f}, 128: {0x80, 1}, 624485: {0xe5, 0x8e, 0x26}} {
		if got := Uint(nil, n); !bytes.Equal(got, want) {
			t.Errorf("Uint(%d) = % x, want % x", n, got, want)
		}
	}
}
