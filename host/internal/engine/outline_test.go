package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"outlast/host/internal/engine/diskcache"
	"outlast/host/internal/wasmfile"
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
	key, err := diskcache.Key(diskcache.Digest(wasm))
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
		files, err := filepath.Glob(filepath.Join(temp, "wazero-*", "*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return os.Rename(files[0], files[0]+"0")
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

// Compiling leaves the code of the whole plugin under the outline's name, and
// nothing beside it.
func TestCompileIntoKeepsTheWholeCode(t *testing.T) {
	wasm := guestWasm(t)
	outline, err := wasmfile.Outline(wasm)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	names := map[string]string{}
	for what, compile := range map[string]func(dir string) error{
		"kept":    func(dir string) error { return compileInto(t.Context(), wasm, dir) },
		"outline": func(dir string) error { _, err := compileTo(t.Context(), outline, dir); return err },
		"whole":   func(dir string) error { _, err := compileTo(t.Context(), wasm, dir); return err },
	} {
		dir := t.TempDir()
		if err := compile(dir); err != nil {
			t.Fatal(err)
		}
		filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if names[what] != "" {
				t.Errorf("%s: %s, and %s", what, names[what], e.Name())
			}
			info, err := e.Info()
			names[what], sizes[what] = e.Name(), info.Size()
			return err
		})
	}
	if names["kept"] != names["outline"] || sizes["kept"] != sizes["whole"] || sizes["kept"] <= sizes["outline"] {
		t.Errorf("%v, %v", names, sizes)
	}
}
