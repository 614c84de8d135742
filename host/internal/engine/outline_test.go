package engine

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"outlast/host/internal/engine/diskcache"
	"outlast/host/internal/wasmfile"
	"outlast/plugin"
)

// Without the plugin's code its outline is not compiled, and so never runs.
func TestAnOutlineIsNotCompiled(t *testing.T) {
	for name, wasm := range map[string][]byte{"small": small(0), "the test guest": guestWasm(t)} {
		dir := t.TempDir()
		if p, err := loadCompiled(t.Context(), wasm, dir); p != nil || !errors.Is(err, errNotTaken) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				t.Errorf("%s: %s was written", name, path)
			}
			return err
		})
	}
}

// An entry whose code this compiler does not look for decides nothing: it is
// dropped, and the plugin is interpreted.
func TestEntriesThatAreNotTheCode(t *testing.T) {
	wasm := small(0)
	key, err := cacheKey(diskcache.Digest(wasm))
	if err != nil {
		t.Fatal(err)
	}
	dir := cacheDir(t)
	cache, err := diskcache.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = cache.Fill(t.Context(), key, func(ctx context.Context, temp string) error {
		if err := compileInto(ctx, wasm, temp); err != nil {
			return err
		}
		file := pluginsCode(t, temp)
		return os.Rename(file, file+"0")
	})
	if err != nil {
		t.Fatal(err)
	}
	e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir})
	if loaded.How != Interpreted || loaded.Why != errNotTaken.Error() {
		t.Errorf("%+v", loaded)
	}
	answer(t, e)
	if _, err := cache.Find(key); !errors.Is(err, diskcache.ErrNone) {
		t.Errorf("the entry is still there: %v", err)
	}
}

// Compiling leaves the code of the whole plugin under the outline's name, the
// kernel's, and nothing beside these.
func TestCompileIntoKeepsTheWholeCode(t *testing.T) {
	wasm := guestWasm(t)
	outline, err := wasmfile.Outline(wasm)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := compileInto(t.Context(), wasm, dir); err != nil {
		t.Fatal(err)
	}
	kept := sizes(t, dir)
	var whole int64
	for _, size := range compiled(t, wasm) {
		whole = size
	}
	want := compiled(t, plugin.Kernel)
	for name := range compiled(t, outline) {
		want[name] = whole
	}
	if !maps.Equal(kept, want) {
		t.Errorf("%v, want %v", kept, want)
	}
}

// compiled is what compiling a module leaves.
func compiled(t *testing.T, wasm []byte) map[string]int64 {
	t.Helper()
	dir := t.TempDir()
	if _, err := compileTo(t.Context(), wasm, dir); err != nil {
		t.Fatal(err)
	}
	return sizes(t, dir)
}

// sizes are those of all files in a directory, in bytes by their names.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			found[e.Name()] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
