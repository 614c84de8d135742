// Package testguest builds a plugin for tests: one that echoes, calls the host
// functions, and fails in every way that a plugin can. Its source says what
// its exports do.
package testguest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const source = "outlast/host/internal/engine/testguest/testdata/guest"

// Build compiles the guest as plugins are compiled, once per process. The
// first build of a checkout also compiles Go's standard library to WebAssembly
// and takes some ten seconds.
var Build = sync.OnceValues(build)

func build() ([]byte, error) {
	dir, err := os.MkdirTemp("", "outlast-testguest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, source)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isGoFlags), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("outlast: building the test guest: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}

// isGoFlags says whether a variable would change how the guest is built.
func isGoFlags(variable string) bool {
	return strings.HasPrefix(variable, "GOFLAGS=")
}
