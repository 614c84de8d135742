// Package tests has what crosses the rooms of the house.
package tests

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayUse says what each room may import of the module, and from outside the
// standard library. A room that gains a dependency fails here first.
var mayUse = map[string][]string{
	"abi":                              {"outlast/abi/fields", "outlast/abi/strictjson"},
	"abi/generate":                     {"outlast/abi", "outlast/abi/conformance", "outlast/abi/fields"},
	"abi/fields":                       {"outlast/abi/strictjson"},
	"abi/strictjson":                   {},
	"abi/conformance":                  {"outlast/abi", "outlast/abi/strictjson", "outlast/abi/vectors"},
	"abi/vectors":                      {},
	"abi/transcripts":                  {"outlast/abi", "outlast/abi/conformance"},
	"abi/schema":                       {},
	"plugin":                           {},
	"plugin/policy":                    {"outlast/abi", "outlast/abi/strictjson"},
	"plugin/guest":                     {"outlast/abi", "outlast/abi/strictjson", "outlast/plugin/policy", "github.com/extism/go-pdk"},
	"plugin/stub":                      {},
	"host":                             {"outlast/abi", "outlast/plugin", "outlast/plugin/policy", "outlast/host/internal/engine", "outlast/host/internal/wasmfile"},
	"host/virtual":                     {},
	"ready":                            {"outlast/abi", "outlast/host"},
	"host/commands":                    {"outlast/abi", "golang.org/x/sys"},
	"policies":                         {},
	"policies/capture":                 {"outlast/policies/internal/h2"},
	"policies/internal/h2":             {},
	"process":                          {"outlast/abi", "outlast/process/quit", "outlast/process/atstart", "golang.org/x/sys"},
	"process/quit":                     {"outlast/process/atstart"},
	"process/atstart":                  {},
	"host/omnigraph":                   {"golang.org/x/sys", "github.com/goccy/go-yaml"},
	"host/internal/wasmfile":           {"outlast/abi"},
	"host/internal/kernel":             {"github.com/tetratelabs/wazero"},
	"host/internal/engine":             {"outlast/host/internal/kernel", "outlast/host/internal/engine/diskcache", "outlast/host/internal/wasmfile", "outlast/abi", "github.com/tetratelabs/wazero", "golang.org/x/sys"},
	"internal/standin":                 {"github.com/goccy/go-yaml"},
	"tests/omnigraph/faults":           {},
	"tests/omnigraph/life":             {},
	"tests/omnigraph/lag":              {"outlast/tests/omnigraph/life"},
	"tests/omnigraph/follow":           {"outlast/abi", "outlast/host", "outlast/tests/omnigraph/faults"},
	"benchmarks":                       {},
	"benchmarks/server":                {},
	"benchmarks/timed":                 {},
	"benchmarks/backoff":               {"github.com/cenkalti/backoff/v5"}, // a module of its own
	"outages":                          {"outlast/abi", "outlast/plugin/policy", "github.com/gofrs/flock"},
	"simulate":                         {"outlast/abi", "outlast/plugin/policy"},
	"simulate/plot":                    {"outlast/simulate", "golang.org/x/image"},
	"measure":                          {"outlast/outages", "outlast/process"},
	"hosts/go/facts":                   {"github.com/extism/go-sdk", "github.com/tetratelabs/wazero"},
	"hosts/go/rideout":                 {"github.com/extism/go-sdk"},
	"journal":                          {"golang.org/x/sys"},
	"tests/outer":                      {"outlast/journal"},
	"journal/task":                     {"outlast/abi", "outlast/host", "outlast/journal"},
	"cmd/outlast/internal/inputs":      {},
	"cmd/outlast/internal/link":        {},
	"cmd/outlast/internal/quietquit":   {"outlast/process/quit"},
	"cmd/outlast/internal/config":      {"outlast/ready", "outlast/journal", "outlast/cmd/outlast/internal/policyflags", "github.com/alecthomas/kong", "github.com/goccy/go-yaml"},
	"cmd/outlast/internal/policyflags": {"outlast/abi", "outlast/host", "golang.org/x/sys"},
	"cmd/outlast/internal/progress":    {"outlast/host"},
	"cmd/outlast/internal/safetext":    {"outlast/abi", "outlast/host"},
	"cmd/outlast/internal/wholefile":   {},
	"cmd/outlast/internal/show":        {"outlast/abi", "outlast/host", "outlast/cmd/outlast/internal/safetext", "outlast/cmd/outlast/internal/progress", "golang.org/x/sys", "golang.org/x/term"},
	"cmd/outlast/internal/record":      {"outlast/abi", "outlast/host", "outlast/cmd/outlast/internal/safetext", "outlast/cmd/outlast/internal/progress", "outlast/cmd/outlast/internal/wholefile"},
	"cmd/outlast/internal/metrics":     {"outlast/abi", "outlast/cmd/outlast/internal/safetext", "outlast/cmd/outlast/internal/progress", "outlast/cmd/outlast/internal/wholefile", "github.com/gofrs/flock"},
	"cmd/outlast":                      {"outlast/abi", "outlast/abi/schema", "outlast/plugin", "outlast/plugin/policy", "outlast/policies", "outlast/host", "outlast/process", "outlast/ready", "outlast/cmd/outlast/internal", "outlast/journal", "outlast/outages", "outlast/measure", "outlast/simulate", "outlast/internal/standin", "github.com/alecthomas/kong"},
}

func TestRoomsKeepToThemselves(t *testing.T) {
	for room, allowed := range mayUse {
		for file, imports := range importsOf(t, room) {
			for _, path := range imports {
				if isStandard(path) || slices.ContainsFunc(allowed, func(a string) bool {
					return path == a || strings.HasPrefix(path, a+"/")
				}) {
					continue
				}
				t.Errorf("%s imports %s, which its room may not use", file, path)
			}
		}
	}
}

// What a policy decides must depend on nothing but its input, on any machine.
func TestThePolicyIsPure(t *testing.T) {
	banned := []string{"time", "os", "math/rand", "math/rand/v2", "crypto/rand", "net", "math", "unsafe", "sync/atomic"}
	for _, room := range []string{"plugin/policy", "plugin/guest", "abi", "abi/strictjson"} {
		for file, imports := range importsOf(t, room) {
			for _, path := range imports {
				if slices.Contains(banned, path) {
					t.Errorf("%s imports %s", file, path)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "float64") || strings.Contains(string(text), "float32") {
				t.Errorf("%s uses floating point, which differs between machines", file)
			}
		}
	}
}

// importsOf is the imports of a room's files that are no tests, by file.
func importsOf(t *testing.T, room string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", room, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("room %s has no files: %v", room, err)
	}
	out := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if filepath.Base(file) == "mortal.go" {
			continue // built only for the host's tests
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[file] = append(out[file], path)
		}
	}
	return out
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "outlast" && !strings.Contains(first, ".")
}

// The supported systems, and Windows, which at least compiles.
func TestCompilesElsewhere(t *testing.T) {
	for _, system := range []string{"darwin/arm64", "windows/amd64", "linux/arm64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "build", "./cmd/outlast", "./host/...", "./tests/outer", "./process/...", "./ready/...") // several: nothing is linked
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
