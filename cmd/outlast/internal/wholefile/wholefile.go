// Package wholefile replaces a file as a whole: a reader finds the old content
// or the new, and never a part of either.
package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Target is the file that is replaced for path: where path is a symbolic link,
// what that leads to, which need not exist yet. The error says why the file
// cannot be replaced: it is no regular file, or its folder takes no new files.
func Target(path string) (string, error) {
	target, err := follow(path)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(target); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", path)
	}
	file, err := create(target)
	var made *fs.PathError
	if errors.As(err, &made) { // it names the temporary file
		return "", fmt.Errorf("%s: no file can be made in its folder: %w", path, made.Err)
	}
	if err != nil {
		return "", err
	}
	file.Close()
	return target, os.Remove(file.Name())
}

// maxLinks is how many symbolic links lead to a file at most, as on Linux.
const maxLinks = 40

func follow(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link; or not there, which is found out later
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// Replace gives target, which Target gave, another content. A file that is
// there keeps its permissions; a new one gets perm, whatever the umask.
func Replace(target string, content []byte, perm fs.FileMode) error {
	if info, err := os.Stat(target); err == nil {
		perm = info.Mode().Perm()
	}
	file, err := create(target)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(perm), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// create makes the file that is renamed later: in the same folder, since a
// rename does not leave a file system, and with a name that a program which
// looks for *.prom or *.json there passes over.
func create(target string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
}
