package commands

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"outlast/commands/internal/line"
	"outlast/internal/environ"
)

// Program is the file that runs when a command is called.
type Program struct {
	Path string   // with a slash: found on PATH already
	Env  []string // the call's environment, as "NAME=value"
	// Wrappers are files of which the user says that each runs the command once,
	// with the arguments that it gets, and does nothing else that matters.
	Wrappers []string
}

// maxWrappers is how many wrappers may stand before a program (a choice: a shim
// that leads to another manager's shim is two).
const maxWrappers = 8

// Is says whether the program surely is the command of that name, or runs that
// command once with the arguments that it gets; env is the environment in which
// the command then runs. All that is known of a command's line, and of what it
// prints, holds for such a program alone: a script may do anything, before and
// after, whatever its name.
//
// It is what its file says, by whatever links: a program of the machine that has
// the words of the real one in it, where a failure of that may prove something,
// else one that is called as the command is. A compiled program that imitates
// another one is not found out. The wrappers that are known are in wrapper.go.
func (p Program) Is(name string) (env []string, ok bool) {
	path, env := p.Path, p.Env
	for range maxWrappers {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, false
		}
		if slices.ContainsFunc(p.Wrappers, func(w string) bool { return sameFile(w, real) }) {
			return env, true
		}
		head := readHead(real)
		switch {
		case isNative(head):
			return env, isProgram(real, name) || isManager(real, path, name)
		case isPackaged(real, head, name), isShim(head, path, name) && !runsMore(env):
			return env, true
		}
		script, ok := readExec(head)
		if !ok || runsMore(env) {
			return nil, false
		}
		path, env = script.program, append(env[:len(env):len(env)], script.env...)
	}
	return nil, false
}

// runsMore says whether bash reads another file before any script.
func runsMore(env []string) bool { return environ.Get(env, "BASH_ENV") != "" }

// maxHead bounds what is read of a program's file. The wrappers that are known
// are smaller: Debian's pg_wrapper has 10 KB, the shims less than 1 KB.
const maxHead = 16 << 10

// readHead is the beginning of a regular file, nil of anything else.
func readHead(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil // it may be run and not be read, so nobody knows
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, maxHead))
	if err != nil {
		return nil
	}
	return head
}

// natives are how the files of the systems' own programs begin: ELF; Mach-O of
// 32 and 64 bits, and for several processors; PE.
var natives = []string{"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"}

func isNative(head []byte) bool {
	return line.StartsWithAny(string(head[:min(len(head), 4)]), natives...)
}

// isProgram says whether a native program is the command.
func isProgram(path, name string) bool {
	command := known[name]
	if (command.ByName || command.Words == "") && isNamed(path, name) {
		return true
	}
	return command.Words != "" && hasWords(path, command.Words)
}

// isNamed says whether a file is called as the command is, perhaps with more
// behind, such as a version: git, omnigraph-0.13, kubectl.1.32, .git-wrapped.
func isNamed(path, name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line.Base(path), "."), name)
	return ok && (rest == "" || line.StartsWithAny(rest, "-", ".", "_", "@"))
}

// hasWords says whether a program's file has these words in it. It costs 0.1 ms
// for curl, 0.3 for psql.
func hasWords(path, want string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	const part = 256 << 10
	buffer, kept := make([]byte, part+len(want)), 0
	for {
		n, err := io.ReadFull(file, buffer[kept:])
		if bytes.Contains(buffer[:kept+n], []byte(want)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buffer, buffer[len(buffer)-len(want):])
	}
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
