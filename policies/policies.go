// Package policies has the policies that come with outlast for common commands.
// Each is a document as a user would write one, recognises what the command
// itself prints when it cannot connect, and repeats a write only where the host
// says that nothing of it was sent (see host/commands).
package policies

import (
	"embed"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// names are the bundled policies. Each is for the command of its name.
var names = []string{"curl", "git", "kubectl", "psql", "redis-cli", "ssh"}

// Names are the bundled policies, sorted.
func Names() []string { return slices.Clone(names) }

// For is the bundled policy for a command, by its base name.
func For(argv0 string) (name string, ok bool) {
	base := filepath.Base(argv0)
	if runtime.GOOS == "windows" {
		base = strings.TrimSuffix(strings.ToLower(base), ".exe")
	}
	if !slices.Contains(names, base) {
		return "", false
	}
	return base, true
}

// Document is the text of a bundled policy as its author wrote it, "" if there
// is none of that name.
func Document(name string) string {
	if !slices.Contains(names, name) {
		return ""
	}
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
