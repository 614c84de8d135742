//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// separators are what a path can stand behind or before in an argument, as in
// -d @FILE, --data=@FILE, name=@FILE;type=text/plain, or a shell's text.
const separators = "@=:,;<>|&()'\"` \t\n"

// longArgument is the size from which on only what has a slash is taken for a
// path: the longest path (PATH_MAX), so the argument is no path itself.
const longArgument = 4096

// pathsIn is what may be a path in an argument.
func pathsIn(arg string) []string {
	var paths []string
	add := func(s string) {
		if s != "" && len(s) < longArgument && (len(arg) < longArgument || strings.Contains(s, "/")) {
			paths = append(paths, s)
		}
		if slash := strings.IndexByte(s, '/'); slash > 0 && len(s)-slash < longArgument {
			paths = append(paths, s[slash:]) // -T/tmp/fifo, file:///tmp/fifo
		}
	}
	add(arg)
	if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
		add(arg[2:]) // -Tfifo
	}
	for i := range len(arg) {
		if strings.IndexByte(separators, arg[i]) >= 0 {
			add(arg[i+1:])
		}
	}
	for token := range strings.FieldsFuncSeq(arg, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		add(token)
	}
	return paths
}

// addNamed adds what an argument names and can be read once only. The attempt's
// own descriptors, such as /dev/fd/63, are seen to as such.
func (in *Inputs) addNamed(arg string) {
	seen := map[string]bool{}
	for _, path := range pathsIn(arg) {
		if seen[path] {
			continue
		}
		seen[path] = true
		if number, own := ownDescriptor(path); own {
			in.addOutput(path, number)
			continue
		}
		var stat unix.Stat_t
		if unix.Stat(path, &stat) != nil {
			continue
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFIFO:
			if unix.Access(path, unix.R_OK) == nil {
				in.watched = append(in.watched, onlyOnce{path})
			}
		case unix.S_IFCHR:
			in.addTerminal(path)
		}
	}
}

func (in *Inputs) addTerminal(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), path)
	if isTTY(fd) {
		in.opened = append(in.opened, f)
		in.watchTerminal(fd, strconv.Quote(path))
		return
	}
	f.Close()
}

// addOutput notes a pipe that an argument names for writing, such as bash's >(…).
func (in *Inputs) addOutput(path string, number int) {
	var stat unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFL, 0)
	if err != nil || number <= 2 || flags&unix.O_ACCMODE != unix.O_WRONLY || unix.Fstat(number, &stat) != nil {
		return
	}
	if kind := stat.Mode & unix.S_IFMT; kind == unix.S_IFIFO || kind == unix.S_IFSOCK {
		in.output = fmt.Errorf("%q is a pipe into which it may have written", path)
	}
}

// ownDescriptor is the descriptor of the process that opens the path to which it
// leads, if it does.
func ownDescriptor(path string) (number int, own bool) {
	path = filepath.Clean(path)
	if standard := slices.Index([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}, path); standard >= 0 {
		return standard, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if digits, ok := strings.CutPrefix(path, dir); ok {
			number, err := strconv.Atoi(digits)
			return number, err == nil
		}
	}
	return 0, false
}
