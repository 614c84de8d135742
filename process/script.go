package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// binSh is what execvp(3) runs a file with that is no program.
const binSh = "/bin/sh"

// asScript is how the file runs that the system did not take for a program: a
// script without #!, which shells, env, nohup and timeout run too. Of a file
// that is no text, such as another machine's program, it is nil.
func asScript(err error, dir, path string, args []string) (argv []string) {
	if !errors.Is(err, syscall.ENOEXEC) || !isText(dir, path) {
		return nil
	}
	if !strings.ContainsRune(path, filepath.Separator) {
		path = "." + string(filepath.Separator) + path // no option, and not on PATH
	}
	return append([]string{binSh, path}, args...)
}

// sample is how much of a file bash looks at, to tell a script.
const sample = 80

// isText says whether the first line has no NUL, as far as it is looked at.
func isText(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text := make([]byte, sample)
	n, err := io.ReadFull(f, text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false
	}
	line, _, _ := bytes.Cut(text[:n], []byte("\n"))
	return bytes.IndexByte(line, 0) < 0
}
