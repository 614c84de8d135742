// Package commands reads the command lines of curl, psql, redis-cli, kubectl and
// git, as far as they tell what a text cannot: that an invocation changes
// nothing, and that a failure to connect means that nothing of it was sent.
//
// It is exact about what it is sure of and knows nothing of the rest: an option
// that it does not know makes it sure of nothing. Being unsure costs a retry of
// a write; being wrong would repeat one.
package commands

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

	unsent func(exit int64, stderr string) bool
}

// Parse reads a command line; argv[0] is the command, which is known by its base
// name: whether it is that command is another question, which Program.Is answers.
// env is the command's environment, as "NAME=value": it, and files in the user's
// home, may change what a command does.
func Parse(argv, env []string) Line {
	if len(argv) == 0 {
		return Line{}
	}
	args, vars := argv[1:], environment(env)
	switch base(argv[0]) {
	case "curl":
		return curl(args, vars)
	case "psql":
		return psql(args, vars)
	case "redis-cli":
		return redis(args)
	case "kubectl":
		return kubectl(args)
	case "git":
		return git(argv[0], args, env)
	}
	return Line{} // ssh too: what it runs is somebody else's command line
}

// Sent says whether an attempt's request left the command: SentNo if it surely
// did not, SentUnknown otherwise. It is what abi.Result.Sent of the attempt
// should be.
func (l Line) Sent(r *abi.Result) abi.Sent {
	if !l.Direct || r.ExitCode == nil || r.TimedOut || r.Signal != "" {
		return abi.SentUnknown
	}
	if l.unsent(*r.ExitCode, r.Stderr.Head) {
		return abi.SentNo
	}
	return abi.SentUnknown
}

func base(command string) string {
	name := filepath.Base(command)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name
}

// environment is what the variables are; the last of a name counts, as for a
// process that is started with them.
func environment(env []string) map[string]string {
	vars := map[string]string{}
	for _, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok {
			vars[name] = value
		}
	}
	return vars
}

func startsWithAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// isDevice says whether a path may be the command's own stderr.
func isDevice(path string) bool {
	return path != "/dev/null" && startsWithAny(filepath.Clean(path), "/dev/", "/proc/")
}
