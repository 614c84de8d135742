package link

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Link is a link and what comes of it.
type Link struct {
	Path    string // of the link
	Outlast string // the tool that it leads to
	Command string // the program that the tool then runs
}

// Make makes a link named name in the folder dir that leads to the file outlast,
// or points a link to outlast that is there already to it. It makes none that would
// have no effect with path, the value of PATH, or would replace anything but such a
// link.
func Make(name, dir, outlast, path string) (Link, error) {
	link, err := plan(name, dir, outlast, path)
	if err != nil {
		return Link{}, err
	}
	if err := put(link.Path, outlast); err != nil {
		return Link{}, fmt.Errorf("making the link %s: %w", link.Path, bare(err))
	}
	return Check(name, outlast, path)
}

// plan finds all that is wrong with a link before it is made.
func plan(name, dir, outlast, path string) (Link, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Link{}, err
	}
	if info, err := os.Stat(dir); err != nil {
		return Link{}, fmt.Errorf("the folder %s: %w", dir, bare(err))
	} else if !info.IsDir() {
		return Link{}, fmt.Errorf("%s is no folder", dir)
	}
	link := Link{Path: filepath.Join(dir, fileName(name)), Outlast: outlast}
	if _, err := os.Lstat(link.Path); err == nil && !leadsToOutlast(link.Path, outlast) {
		return Link{}, fmt.Errorf("%s is there already, and is no link to outlast: it is left alone; name another folder, before this one on PATH", link.Path)
	}
	if link.Command, err = Find(name, outlast, path, Trail{}); err != nil {
		return Link{}, fmt.Errorf("there is no %s on PATH for the link to run: %w", name, err)
	}
	return link, inFront(dir, link.Command, path)
}

// inFront says whether the folder is one of PATH's, and before the command's.
func inFront(dir, command, path string) error {
	for _, entry := range folders(path) {
		if filepath.IsAbs(entry) && sameFile(entry, dir) {
			return nil
		}
		if sameFile(entry, filepath.Dir(command)) {
			break
		}
	}
	return fmt.Errorf("%s has to be on PATH, before %s, where %s is; with PATH=%s:$PATH it is",
		dir, filepath.Dir(command), filepath.Base(command), dir)
}

// put makes the link in one step, so that at no time the name leads nowhere.
func put(path, outlast string) error {
	if sameFile(path, outlast) {
		return nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return linkTo(outlast, path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".outlast-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	next := filepath.Join(dir, filepath.Base(path))
	if err := linkTo(outlast, next); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// linkTo makes a symbolic link, which an upgrade of the tool leaves right; on
// Windows, where most users may not, a hard link.
func linkTo(outlast, path string) error {
	err := os.Symlink(outlast, path)
	if err != nil && runtime.GOOS == "windows" {
		return os.Link(outlast, path)
	}
	return err
}

// Check tells what a program that calls name gets with path, the value of PATH.
// Its error says what is wrong if that is not the tool, or if there is nothing
// for the tool to run.
func Check(name, outlast, path string) (Link, error) {
	var first string
	for _, dir := range folders(path) {
		program, err := lookIn(dir, name)
		if err != nil {
			continue
		}
		if first == "" {
			first = program
		}
		if !IsOutlast(program, outlast) {
			continue
		}
		if program != first {
			return Link{}, fmt.Errorf("the link %s has no effect, as %s comes before it on PATH", program, first)
		}
		command, err := Find(name, outlast, path, Trail{})
		if err != nil {
			return Link{}, fmt.Errorf("the link %s has nothing to run: %w", program, err)
		}
		return Link{Path: program, Outlast: leadsTo(program), Command: command}, nil
	}
	if first != "" {
		return Link{}, fmt.Errorf("no link: a program that calls %s gets %s itself", name, first)
	}
	return Link{}, fmt.Errorf("no link, and no %s on PATH either", name)
}

// Remove removes the link named name from the folder dir, or, if dir is "", the
// first one on path. What is no link to outlast stays.
func Remove(name, dir, outlast, path string) (removed string, err error) {
	if dir == "" {
		if removed, err = first(name, outlast, path); err != nil {
			return "", err
		}
	} else {
		removed = filepath.Join(dir, fileName(name))
	}
	if _, err := os.Lstat(removed); err != nil {
		return "", fmt.Errorf("the link %s: %w", removed, bare(err))
	}
	if !leadsToOutlast(removed, outlast) {
		return "", fmt.Errorf("%s is no link to outlast: it is left alone", removed)
	}
	if err := os.Remove(removed); err != nil {
		return "", fmt.Errorf("removing the link %s: %w", removed, bare(err))
	}
	return removed, nil
}

func first(name, outlast, path string) (string, error) {
	for _, dir := range folders(path) {
		if link := filepath.Join(dir, fileName(name)); leadsToOutlast(link, outlast) {
			return link, nil
		}
	}
	return "", fmt.Errorf("no folder of PATH has a link named %s to outlast; another one is named with --dir", name)
}

// leadsToOutlast says whether the path is a link to an outlast, also to one that has
// been taken away.
func leadsToOutlast(path, outlast string) bool {
	if IsOutlast(path, outlast) {
		return true
	}
	target, err := os.Readlink(path)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	_, under := Invoked(target)
	return errors.Is(err, fs.ErrNotExist) && !under
}

// Self is the file of this tool, by the path that outlast has on PATH if that is
// it: an upgrade may change what that leads to.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if named, err := exec.LookPath(Own); err == nil && filepath.IsAbs(named) && sameFile(named, self) {
		return named, nil
	}
	return self, nil
}

func leadsTo(path string) string {
	if target, err := os.Readlink(path); err == nil {
		return target
	}
	return path
}

func fileName(name string) string {
	if runtime.GOOS == "windows" && !strings.HasSuffix(name, ".exe") {
		return name + ".exe"
	}
	return name
}

// bare is an error without the operation and the path, which the message has.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
