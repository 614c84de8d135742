// Package line has what reading the command lines of several commands takes:
// what a line can tell, the grammar of options, and where a command finds its
// settings.
package line

import (
	"path/filepath"
	"runtime"
	"strings"

	"outlast/abi"
)

// Line is what a command line tells before it runs. The zero Line tells nothing.
type Line struct {
	// Read says that the invocation surely changes nothing at its server, so
	// that it may be repeated.
	Read bool
	// Direct says that the invocation connects before it does anything, once,
	// and that its own report of that cannot be imitated by what it runs or
	// receives. For a Direct line, Sent can tell that nothing was sent.
	Direct bool
	// Unsent says whether a Direct line, by how it ended, sent nothing.
	Unsent func(exit int64, stderr string) bool
}

// Sent says whether an attempt's request left the command: SentNo if it surely
// did not, SentUnknown otherwise. It is what abi.Result.Sent of the attempt
// should be.
func (l Line) Sent(r *abi.Result) abi.Sent {
	if !l.Direct || r.ExitCode == nil || r.TimedOut || r.Signal != "" {
		return abi.SentUnknown
	}
	if l.Unsent(*r.ExitCode, r.Stderr.Head) {
		return abi.SentNo
	}
	return abi.SentUnknown
}

// Command is what is known of one command beside its policy.
type Command struct {
	// Parse reads a line of it, as commands.Parse does. nil: its lines tell
	// nothing.
	Parse func(argv, env []string) Line
	// Words are what the real program has in its file; "" if none are known.
	Words string
	// ByName says that a program so named is taken for the command, even if it
	// has no such words.
	ByName bool
}

// Base is the name that a command is called by.
func Base(command string) string {
	name := filepath.Base(command)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name
}

// StartsWithAny says whether a text starts with one of the prefixes.
func StartsWithAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// IsDevice says whether a path may be the command's own stderr.
func IsDevice(path string) bool {
	return path != "/dev/null" && StartsWithAny(filepath.Clean(path), "/dev/", "/proc/")
}
