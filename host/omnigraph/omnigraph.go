// Package omnigraph knows what is special about the omnigraph command line:
// what an invocation reads or writes and where, how it gets its token, how a
// store is repaired, and which lock its writers take.
//
// Commands and flags are those of omnigraph 0.8 to 0.14, as its usage text and
// its documentation list them, and those that witan-core calls.
package omnigraph

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Is says whether a command is omnigraph, by its base name.
func Is(command string) bool {
	name := filepath.Base(command)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name == "omnigraph"
}
