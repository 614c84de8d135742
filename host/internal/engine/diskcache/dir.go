// Package diskcache keeps native code, compiled from plugins, in a directory
// of the user's.
//
// That code is executed as it is found, so the directory is used only if no
// one but the user (and root) can write it: it must be a real directory, the
// user's own and closed to group and others, and so must be the way to it.
//
// An entry is a directory named by its key. It is made under another name,
// gets a marker with the checksum of the code once that is complete, and is then
// renamed; so what can be found was once whole, and a load checks the checksum.
// One process at a time writes, under a lock in the directory, and whoever
// finds the lock taken does without.
package diskcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is a cache directory that was found to be safe.
type Dir struct {
	path string
}

// ErrNotThere says that the directory has not been made yet.
var ErrNotThere = errors.New("the cache directory does not exist yet")

// Open checks a directory, without changing anything. The error says what is
// wrong with it; ErrNotThere if it does not exist.
func Open(path string) (*Dir, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the cache directory %q is not an absolute path", path)
	}
	way, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotThere, path)
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the way to the cache directory: %w", err)
	}
	// From here on without symbolic links, which could change meanwhile.
	path = filepath.Join(way, filepath.Base(path))
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotThere, path)
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the cache directory: %w", err)
	}
	if err := checkPrivate(path, info); err != nil {
		return nil, err
	}
	if err := checkWay(way); err != nil {
		return nil, err
	}
	return &Dir{path: path}, nil
}

// Create makes the directory, and those above it that are missing, private to
// the user, and then checks it as Open does. It makes nothing where the
// directory would not be safe.
func Create(path string) (*Dir, error) {
	d, err := Open(path)
	if !errors.Is(err, ErrNotThere) {
		return d, err
	}
	if err := checkWay(existing(filepath.Dir(path))); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, private); err != nil {
		return nil, fmt.Errorf("making the cache directory: %w", err)
	}
	return Open(path)
}

// existing is the nearest directory at or above path that exists, without
// symbolic links.
func existing(path string) string {
	for {
		if way, err := filepath.EvalSymlinks(path); err == nil {
			return way
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
}

// private is the mode of what only its owner may use.
const private fs.FileMode = 0o700

// checkPrivate says why a directory is not the user's alone.
func checkPrivate(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("the cache directory %s is a symbolic link; a real directory is needed", path)
	case !info.IsDir():
		return fmt.Errorf("the cache directory %s is no directory", path)
	case owner(info) != self():
		return fmt.Errorf("the cache directory %s belongs to user %d, this process runs as user %d", path, owner(info), self())
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("the cache directory %s is open to others (mode %04o); mode 0700 is needed", path, info.Mode().Perm())
	}
	return nil
}

// checkWay says why someone else could put another directory in place of one
// that is on the given path or just below it: each step must be the user's or
// root's, and only in a sticky directory (such as /tmp) may others write
// beside it. The path has no symbolic links.
func checkWay(path string) error {
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return fmt.Errorf("looking at the way to the cache directory: %w", err)
		}
		if err := checkStep(path, info); err != nil {
			return err
		}
		parent := filepath.Dir(path)
		if parent == path {
			return nil
		}
		path = parent
	}
}

func checkStep(path string, info fs.FileInfo) error {
	if uid := owner(info); uid != self() && uid != root {
		return fmt.Errorf("the cache directory is not safe: %s above it belongs to user %d, who could replace it", path, uid)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("the cache directory is not safe: others may write in %s above it (mode %04o) and could replace it", path, info.Mode().Perm())
	}
	return nil
}

const root = 0 // the user id of the superuser
