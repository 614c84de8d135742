package wasmfile_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"

	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
	"outlast/plugin"
)

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
		want, err := wasmfile.Parse(wasm)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wasmfile.Parse(outline)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		again, err := wasmfile.Outline(outline)
		if err != nil || !bytes.Equal(again, outline) {
			t.Errorf("%s: the outline's outline is another one: %v", name, err)
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
		if _, err := wasmfile.Parse(wasm); err != nil || bytes.Contains(wasm, []byte("\x04name")) {
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
