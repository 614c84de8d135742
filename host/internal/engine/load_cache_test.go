//go:build unix

package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outlast/host/internal/engine/diskcache"
	"outlast/plugin"
)

func TestWarmCache(t *testing.T) {
	wasm := guestWasm(t)
	dir, err := guestCache()
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	for _, mode := range []Mode{Auto, Compiler} {
		e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir, Mode: mode, OnFill: func(f Filled) {
			t.Errorf("mode %d: there was something to fill: %+v", mode, f)
		}})
		if loaded.How != Cached || loaded.Why != "" {
			t.Errorf("mode %d: %+v", mode, loaded)
		}
		answer(t, e)
		e.FillCache()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir, Mode: Interpreter})
	if loaded.How != Interpreted {
		t.Errorf("the interpreter was asked for: %+v", loaded)
	}
	answer(t, e)
	// Had wazero not found the code it would have compiled and left a file.
	if after := listing(t, dir); after != before {
		t.Errorf("loading changed the cache from\n%s\nto\n%s", before, after)
	}
	// Another plugin is not affected.
	if _, loaded := open(t, Options{Wasm: small(1), CacheDir: dir}); loaded.How != Interpreted || !strings.Contains(loaded.Why, "no code for this plugin") {
		t.Errorf("another plugin: %+v", loaded)
	}
}

// listing is all files of a directory, with what could show a change.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + " " + e.Type().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAutoWritesNothingByItself(t *testing.T) {
	dir := cacheDir(t)
	e, loaded := open(t, Options{Wasm: small(0), CacheDir: dir})
	if loaded.How != Interpreted || !strings.Contains(loaded.Why, "does not exist yet") {
		t.Errorf("%+v", loaded)
	}
	answer(t, e)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache directory: %v", err)
	}
}

func TestCompilerFillsTheCache(t *testing.T) {
	dir := cacheDir(t)
	if _, loaded := open(t, Options{Wasm: small(0), CacheDir: dir, Mode: Compiler}); loaded.How != Compiled || !strings.Contains(loaded.Why, "does not exist yet") {
		t.Errorf("cold: %+v", loaded)
	}
	if _, loaded := open(t, Options{Wasm: small(0), CacheDir: dir}); loaded.How != Cached {
		t.Errorf("afterwards: %+v", loaded)
	}
}

// code is the file of native code in the only entry of a cache.
func code(t testing.TB, dir string) string {
	t.Helper()
	return pluginsCode(t, filepath.Join(dir, "*"))
}

// pluginsCode is the file in a cache entry that has the plugin's code. Beside it is
// the kernel's.
func pluginsCode(t testing.TB, entry string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(entry, "wazero-*", "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	kernel, err := compileTo(t.Context(), plugin.Kernel, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) != filepath.Base(kernel) {
			return file
		}
	}
	t.Fatal(files)
	return ""
}

func TestDamagedCache(t *testing.T) {
	wasm := small(0)
	for name, damage := range map[string]func(code, marker string) error{
		"truncated": func(code, _ string) error { return os.Truncate(code, 100) },
		"emptied":   func(code, _ string) error { return os.Truncate(code, 0) },
		"corrupt": func(code, _ string) error {
			text, err := os.ReadFile(code)
			if err != nil {
				return err
			}
			text[len(text)/2] ^= 1
			return os.WriteFile(code, text, 0o600)
		},
		"removed":        func(code, _ string) error { return os.Remove(code) },
		"a directory":    func(code, _ string) error { return errors.Join(os.Remove(code), os.Mkdir(code, 0o700)) },
		"empty marker":   func(_, marker string) error { return os.Truncate(marker, 0) },
		"marker of yore": func(_, marker string) error { return os.WriteFile(marker, []byte("{}"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := cacheDir(t)
			fill(t, wasm, dir)
			file := code(t, dir)
			entry := filepath.Dir(filepath.Dir(file))
			if err := damage(file, filepath.Join(entry, "complete")); err != nil {
				t.Fatal(err)
			}
			e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir})
			if loaded.How != Interpreted || !strings.Contains(loaded.Why, "damaged") {
				t.Errorf("%+v", loaded)
			}
			answer(t, e)
			if _, err := os.Stat(entry); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the entry is still there: %v", err)
			}
			fill(t, wasm, dir) // and can be filled again
			if _, loaded := open(t, Options{Wasm: wasm, CacheDir: dir}); loaded.How != Cached {
				t.Errorf("after another fill: %+v", loaded)
			}
		})
	}
}

// TestCodeThatWazeroRefuses is damage that the checksum does not show: the
// marker was written with it.
func TestCodeThatWazeroRefuses(t *testing.T) {
	wasm := small(0)
	for name, text := range map[string]string{"empty": "", "nonsense": strings.Repeat("nonsense ", 100), "header only": "WAZEVO"} {
		t.Run(name, func(t *testing.T) {
			dir := cacheDir(t)
			fill(t, wasm, dir)
			file := code(t, dir)
			entry := filepath.Dir(filepath.Dir(file))
			name, err := filepath.Rel(entry, file)
			if err != nil {
				t.Fatal(err)
			}
			cache, err := diskcache.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			key, err := cacheKey(diskcache.Digest(wasm))
			if err != nil {
				t.Fatal(err)
			}
			if err := cache.Drop(key); err != nil {
				t.Fatal(err)
			}
			err = cache.Fill(t.Context(), key, func(_ context.Context, temp string) error {
				path := filepath.Join(temp, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return err
				}
				return os.WriteFile(path, []byte(text), 0o600)
			})
			if err != nil {
				t.Fatal(err)
			}
			e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir})
			if loaded.How != Interpreted || loaded.Why == "" {
				t.Errorf("%+v", loaded)
			}
			answer(t, e)
			if _, err := os.Stat(entry); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the entry is still there: %v", err)
			}
		})
	}
}

func TestUnsafeCacheDirectories(t *testing.T) {
	wasm := small(0)
	for name, test := range map[string]struct {
		change func(dir string) (string, error)
		why    string
	}{
		"group-writable": {func(dir string) (string, error) { return dir, os.Chmod(dir, 0o770) }, "open to others (mode 0770)"},
		"readable":       {func(dir string) (string, error) { return dir, os.Chmod(dir, 0o755) }, "open to others (mode 0755)"},
		"symbolic link":  {func(dir string) (string, error) { return dir + "2", os.Symlink(dir, dir+"2") }, "is a symbolic link"},
		"relative":       {func(string) (string, error) { return "cache", nil }, "not an absolute path"},
		"a file":         {func(dir string) (string, error) { return dir + "2", os.WriteFile(dir+"2", nil, 0o600) }, "no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cacheDir(t)
			fill(t, wasm, dir)
			dir, err := test.change(dir)
			if err != nil {
				t.Fatal(err)
			}
			for mode, want := range map[Mode]How{Auto: Interpreted, Compiler: Compiled} {
				e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir, Mode: mode})
				if loaded.How != want || !strings.Contains(loaded.Why, test.why) {
					t.Errorf("mode %d: %+v, want %v because of %q", mode, loaded, want, test.why)
				}
				answer(t, e)
			}
			if err := fillError(t, wasm, dir); err == nil || !strings.Contains(err.Error(), test.why) {
				t.Errorf("filling it: %v", err)
			}
		})
	}
}

func TestReadOnlyCacheDirectory(t *testing.T) {
	wasm, dir := small(0), cacheDir(t)
	fill(t, wasm, dir)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, loaded := open(t, Options{Wasm: wasm, CacheDir: dir}); loaded.How != Cached {
		t.Errorf("a warm one: %+v", loaded)
	}
	_, loaded := open(t, Options{Wasm: small(1), CacheDir: dir})
	if loaded.How != Interpreted {
		t.Errorf("a cold one: %+v", loaded)
	}
	if err := fillError(t, small(1), dir); (err == nil) != (os.Geteuid() == 0) { // root may write anywhere
		t.Errorf("filling it: %v", err)
	}
}
