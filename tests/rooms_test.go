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

// rooms says what each room may import of the module, and from outside the
// standard library. What a room may use, it may use the rooms within of. A room
// that gains a dependency fails here first. Modules of their own (benchmarks,
// commands/capture, drivers, hosts/go, otel, prometheus, release, tests/features, tests/ferretdb, tests/prometheus, tests/registry, tests/services) have a go.mod for a fence.
const rooms = `
abi: abi/fields abi/strictjson
abi/conformance: abi abi/strictjson abi/vectors
abi/fields: abi/strictjson
abi/generate: abi abi/conformance abi/fields plugin/policy
abi/schema:
abi/strictjson:
abi/transcripts: abi abi/conformance
abi/vectors:
cmd/outlast: abi abi/schema plugin plugin/policy commands host process ready cmd/outlast/internal journal outages measure internal/standin followed github.com/alecthomas/kong
cmd/outlast/internal/aside:
cmd/outlast/internal/cases: abi abi/fields abi/strictjson cmd/outlast/internal/library host simulate
cmd/outlast/internal/config: ready journal cmd/outlast/internal/policyflags internal/plainyaml github.com/alecthomas/kong github.com/goccy/go-yaml internal/environ
cmd/outlast/internal/difference:
cmd/outlast/internal/exit:
cmd/outlast/internal/inputs:
cmd/outlast/internal/library: plugin/policy commands host cmd/outlast/internal/exit followed cmd/outlast/internal/policyflags
cmd/outlast/internal/link:
cmd/outlast/internal/manual: github.com/alecthomas/kong
cmd/outlast/internal/metrics: abi host cmd/outlast/internal/aside cmd/outlast/internal/safetext internal/progress internal/telemetry cmd/outlast/internal/wholefile github.com/gofrs/flock
cmd/outlast/internal/policyflags: abi host golang.org/x/sys cmd/outlast/internal/words
cmd/outlast/internal/pull: cmd/outlast/internal/difference cmd/outlast/internal/library followed host httpattempt plugin/policy aead.dev/minisign github.com/gofrs/flock
cmd/outlast/internal/quietquit: process/quit
cmd/outlast/internal/record: abi host cmd/outlast/internal/aside cmd/outlast/internal/safetext internal/progress cmd/outlast/internal/wholefile
cmd/outlast/internal/safetext: abi host
cmd/outlast/internal/sample: abi cmd/outlast/internal/exit commands host outages
cmd/outlast/internal/show: abi host cmd/outlast/internal/aside cmd/outlast/internal/safetext internal/progress golang.org/x/sys golang.org/x/term
cmd/outlast/internal/simulation: abi cmd/outlast/internal commands host outages plugin/policy simulate
cmd/outlast/internal/verification: abi cmd/outlast/internal commands host outages simulate
cmd/outlast/internal/wholefile:
cmd/outlast/internal/words:
cmd/outlast/internal/wrap: abi plugin plugin/policy commands host process ready cmd/outlast/internal journal github.com/alecthomas/kong internal/environ internal/progress
commands: abi abi/fields abi/strictjson commands internal/environ
commands/curl: commands/internal/line internal/environ
commands/git: commands/internal/line internal/environ
commands/internal/h2:
commands/internal/line: abi golang.org/x/sys internal/environ
commands/internal/linetest: commands/internal/line
commands/kubectl: commands/internal/line
commands/omnigraph: abi commands/internal/line golang.org/x/sys github.com/goccy/go-yaml internal/plainyaml process/procfs internal/environ
commands/psql: commands/internal/line internal/environ
commands/redis-cli: commands/internal/line
followed: abi abi/fields abi/strictjson plugin/policy
host: abi plugin plugin/policy host/internal/engine internal/redact internal/repeat followed
host/internal/cgroup:
host/internal/engine: host/internal/cgroup host/internal/kernel host/internal/wasmfile abi plugin github.com/tetratelabs/wazero golang.org/x/sys
host/internal/engine/testguest:
host/internal/kernel: github.com/tetratelabs/wazero
host/internal/wasmfile:
host/internal/wasmfile/wasmtest: abi host/internal/wasmfile
host/virtual:
httpattempt: abi ready internal/repeat
httpretry: abi host httpattempt ready internal/repeat
internal/cgrouptest:
internal/environ:
internal/plainyaml: github.com/goccy/go-yaml
internal/progress: host
internal/recipetest:
internal/redact:
internal/repeat:
internal/telemetry: abi host internal/progress
internal/standin: github.com/goccy/go-yaml
internal/turns:
journal: internal/redact golang.org/x/sys
journal/task: abi host journal
logs: abi host
measure: outages process ready
outages: abi plugin/policy github.com/gofrs/flock
plugin:
plugin/kernel:
plugin/guest: abi abi/strictjson plugin/policy github.com/extism/go-pdk
plugin/policy: abi abi/fields abi/strictjson
plugin/stub:
process: abi process/quit process/atstart golang.org/x/sys process/procfs
process/atstart:
process/atstart/trim: process/atstart
process/procfs: golang.org/x/sys
process/quit: process/atstart
ready: abi host internal/environ internal/turns ready/meeting
ready/meeting: golang.org/x/sys
retry: host httpattempt
simulate: abi internal/turns plugin/policy
simulate/plot: simulate golang.org/x/image
site/gopages:
tests:
tests/compare:
tests/functions: abi host httpattempt httpretry
tests/herd: host httpattempt ready
tests/link:
tests/mutation: plugin/policy
tests/omnigraph:
tests/omnigraph/faults:
tests/omnigraph/follow: abi commands/omnigraph host tests/omnigraph/faults
tests/omnigraph/lag: tests/omnigraph/life
tests/omnigraph/life:
tests/omnigraph/omnigraph: internal/standin
tests/omnigraph/omnigraph-server: internal/standin
tests/outer: journal
`

// mayUse is rooms, by the room.
func mayUse() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(rooms)) {
		room, uses, _ := strings.Cut(line, ":")
		table[room] = strings.Fields(uses)
	}
	return table
}

func TestRoomsKeepToThemselves(t *testing.T) {
	for room, allowed := range mayUse() {
		for file, imports := range importsOf(t, room) {
			for _, path := range imports {
				used := strings.TrimPrefix(path, "outlast/")
				if isStandard(path) || slices.ContainsFunc(allowed, func(a string) bool {
					return used == a || strings.HasPrefix(used, a+"/")
				}) {
					continue
				}
				t.Errorf("%s imports %s, which its room may not use", file, path)
			}
		}
	}
}

func TestEveryRoomIsListed(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	table := mayUse()
	for path := range strings.Lines(string(out)) {
		room := strings.TrimPrefix(strings.TrimSpace(path), "outlast/")
		if _, listed := table[room]; !listed {
			t.Errorf("%s is not listed in rooms: say what it may use", room)
		}
		delete(table, room)
	}
	for room := range table {
		t.Errorf("%s is listed in rooms, and is no package of this module", room)
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
	if err != nil {
		t.Fatal(err)
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

// What is supported and not this machine's, and what at least compiles: Windows, and a
// processor of 32 bits, where an int holds neither a looker's number nor a time in
// microseconds. linux/arm64 has no code that one of these has not.
func TestCompilesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("everything is compiled for three systems")
	}
	for _, system := range []string{"darwin/arm64", "windows/amd64", "linux/arm"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "build", "./cmd/outlast", "./host/...", "./httpattempt", "./httpretry", "./retry", "./tests/functions/...", "./tests/outer/...", "./process/...", "./ready/...") // several: nothing is linked
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
