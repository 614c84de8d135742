package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"outlast/host/internal/wasmfile"
	"outlast/plugin"
)

// Compiled code is kept under the name of the plugin's outline: the module without
// its functions' bodies. wazero reads and validates a module at each load, and
// most of that time goes into bodies whose compiled code it has already. The code
// is that of the whole plugin; everything else that it depends on is the same in
// the outline.

// compileInto compiles the plugin, and the kernel that is linked to it, into a
// directory that loadCompiled loads from.
func compileInto(ctx context.Context, wasm []byte, dir string) error {
	outline, err := wasmfile.Outline(wasm)
	if err != nil {
		return err
	}
	name, err := compileTo(ctx, outline, dir)
	if err != nil {
		return err
	}
	beside := filepath.Join(dir, "beside")
	code, err := compileTo(ctx, wasm, beside)
	if err != nil {
		return err
	}
	if err := os.Rename(code, name); err != nil {
		return err
	}
	if code, err = compileTo(ctx, plugin.Kernel, beside); err != nil {
		return err
	}
	if err := os.Rename(code, filepath.Join(filepath.Dir(name), filepath.Base(code))); err != nil {
		return err
	}
	return os.RemoveAll(beside)
}

// compileTo compiles a module into a directory and finds the file there.
func compileTo(ctx context.Context, wasm []byte, dir string) (file string, err error) {
	p := &program{}
	defer p.close()
	if err := p.open(ctx, newCompilerConfig, dir); err != nil {
		return "", err
	}
	if _, err := p.compile(ctx, wasm); err != nil {
		return "", err
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if file != "" {
			return fmt.Errorf("compiling left more than one file in %s", dir)
		}
		file = path
		return nil
	})
	if err == nil && file == "" {
		err = fmt.Errorf("compiling left no file in %s", dir)
	}
	return file, err
}

var errNotTaken = errors.New("the cache entry has no code that this compiler takes")

// loadCompiled loads a plugin whose code is in a directory, and compiles
// nothing: without its code an outline must not run.
func loadCompiled(ctx context.Context, wasm []byte, dir string) (*program, error) {
	outline, err := wasmfile.Outline(wasm)
	if err != nil {
		return nil, err
	}
	// wazero looks at the context when it compiles, and only then.
	never, cancel := context.WithCancel(ctx)
	cancel()
	p, err := loadAs(never, ctx, outline, newCompilerConfig, dir)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = errNotTaken
	}
	return p, err
}
