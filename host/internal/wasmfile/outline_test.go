package wasmfile_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"

	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
	"outlast/plugin"
)

func u(n uint64) []byte { return wasmtest.Uint(nil, n) }

func raw(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
}

func section(id byte, payload ...byte) []byte { return wasmtest.Section(nil, id, payload) }

// declared is what a runtime finds in a module.
func declared(t *testing.T, wasm []byte) [][]string {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	m, err := r.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, d := range m.ImportedFunctions() {
		module, name, _ := d.Import()
		imports = append(imports, module+"."+name)
	}
	return [][]string{imports, slices.Sorted(maps.Keys(m.ExportedFunctions())), slices.Sorted(maps.Keys(m.ExportedMemories()))}
}

// The outline of the plugin declares what the plugin does, is smaller, and is
// its own outline.
func TestOutline(t *testing.T) {
	for name, wasm := range map[string][]byte{"the plugin": plugin.Wasm, "made by hand": wasmtest.Plugin().Pad(300).Encode()} {
		outline, err := wasmfile.Outline(wasm)
		if err != nil {
			t.Fatal(err)
		}
		if len(outline) >= len(wasm) {
			t.Errorf("%s: the outline has %d bytes of %d", name, len(outline), len(wasm))
		}
		if diff := cmp.Diff(declared(t, wasm), declared(t, outline)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		again, err := wasmfile.Outline(outline)
		if err != nil || !bytes.Equal(again, outline) {
			t.Errorf("%s: the outline's outline is another one: %v", name, err)
		}
	}
}

func TestOutlineNamesTheFault(t *testing.T) {
	for name, test := range map[string]struct {
		wasm []byte
		want string
	}{
		"empty":             {nil, "at byte 0: the file: it is empty"},
		"text":              {[]byte("(module)"), `not a Wasm file: it starts with "(mod"`},
		"short text":        {[]byte("{}"), `not a Wasm file: it starts with "{}"`},
		"half a magic":      {[]byte("\x00as"), "at byte 3: the file: truncated"},
		"half a header":     {[]byte("\x00asm\x01\x00"), "at byte 6: the file: truncated"},
		"component":         {[]byte("\x00asm\x0d\x00\x01\x00"), "the version is 0d 00 01 00"},
		"no size":           {raw([]byte{1}), "at byte 9: the file: truncated: a byte is missing"},
		"endless size":      {raw([]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80}), "a number is longer than 32 bits"},
		"size over 32 bits": {raw([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f}), "a number is longer than 32 bits"},
		"size past the end": {raw([]byte{2, 200, 1, 0}), "at byte 11: the file: truncated: 200 bytes are announced, 1 are left"},
		"custom cut":        {raw([]byte{0, 5, 1}), "truncated: 5 bytes"},
		"too many types":    {raw(section(1, u(1<<31)...)), "section 1: truncated: 2147483648 entries are announced"},
		"too many tables":   {raw(section(4, u(1<<32-1)...)), "section 4: truncated: 4294967295 entries are announced"},
		"too many elements": {raw(section(9, u(1<<31)...)), "section 9: truncated: 2147483648 entries"},
		"too many bodies":   {raw(section(10, u(1<<31)...)), "section 10: truncated: 2147483648 entries"},
		"too much data":     {raw(section(11, u(1<<31)...)), "section 11: truncated: 2147483648 entries"},
	} {
		_, err := wasmfile.Outline(test.wasm)
		var format *wasmfile.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) || format.Offset > len(test.wasm) {
			t.Errorf("%s: error = %v, want a FormatError with %q", name, err, test.want)
		}
	}
}

// FuzzOutline: whatever the file holds there is an answer, and what a real
// runtime accepts has an outline that it accepts too.
func FuzzOutline(f *testing.F) {
	f.Add(wasmtest.Plugin().Encode())
	f.Add(raw(section(1, 1, 0x60, 0, 0), section(3, 1, 0), section(10, 1, 2, 0, 0x0b)))
	f.Add(raw(section(10, 0xff, 0xff, 0xff, 0xff, 0x0f)))
	f.Add(raw(section(0, 4, 'n', 'a', 'm', 'e')))
	f.Add([]byte("\x00asm"))
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
	f.Cleanup(func() { r.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		outline, err := wasmfile.Outline(wasm)
		var fault *wasmfile.FormatError
		if err != nil {
			if !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(wasm) {
				t.Errorf("%v", err)
			}
			return
		}
		if bytes.Contains(wasm, []byte("\x04name")) {
			return // the runtime allocates whatever a broken file announces
		}
		compiled, err := r.CompileModule(ctx, wasm)
		if err != nil {
			return
		}
		compiled.Close(ctx)
		if compiled, err = r.CompileModule(ctx, outline); err != nil {
			t.Fatalf("the outline is refused: %v", err)
		}
		compiled.Close(ctx)
	})
}
