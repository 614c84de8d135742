package link

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// mainPackage is how a file says that it is this tool, of whatever release.
const mainPackage = "outlast/cmd/outlast"

// NotFoundError says that there is no command to run, as a shell says it.
type NotFoundError struct {
	Name     string
	ExitCode int   // a shell's: 127, or 126 where there is one that cannot be run
	Err      error // why not
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

func (e *NotFoundError) Unwrap() error { return e.Err }

var errNotFound = errors.New("command not found")

// Find is the program that a link named name stands for: as a shell looks for
// it, the first one in the folders of path, the value of PATH; but self, which
// is the file of this tool, any other file of an outlast, and what trail says
// runs in circles are passed over. The answer is never looked up again, as it
// has a slash. An error is a *NotFoundError.
func Find(name, self, path string, trail Trail) (string, error) {
	notFound := &NotFoundError{Name: name, ExitCode: 127, Err: errNotFound}
	for _, dir := range folders(path) {
		program, err := lookIn(dir, name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			notFound.ExitCode, notFound.Err = 126, fs.ErrPermission
		case err != nil || IsOutlast(program, self):
		case trail.circles(program):
			notFound.ExitCode, notFound.Err = 126, syscall.ELOOP
		default:
			return program, nil
		}
	}
	return "", notFound
}

// folders are those that PATH names: an empty one is the working directory.
func folders(path string) []string {
	if path == "" {
		return []string{"."}
	}
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		if dir == "" {
			dirs[i] = "."
		}
	}
	return dirs
}

// lookIn is the program of a name in a folder. Join would take a "./" away.
func lookIn(dir, name string) (string, error) {
	program, err := exec.LookPath(dir + string(filepath.Separator) + name)
	if errors.Is(err, exec.ErrDot) { // Windows' for any relative path
		err = nil
	}
	return program, err
}

// IsOutlast says whether the program is this tool: the file self, by whatever
// links, or one that was built from its source.
func IsOutlast(program, self string) bool {
	return sameFile(program, self) || builtFrom(program, mainPackage)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
