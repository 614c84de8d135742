package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFileBytes bounds a file (a choice: some hundred commands' settings fit).
const maxFileBytes = 64 << 10

// State is what became of a file that was looked for.
type State string

// The states.
const (
	Read    State = "read"
	Missing State = "not there"
	Hidden  State = "cannot be looked at" // in a directory that is closed to this user
)

// readFile reads a file that only its owner, who is this user or root, can change.
// What it says decides how commands are run, so a file that others can change is
// an error, and not passed over.
func readFile(path string) (text []byte, state State, fault error) {
	file, err := openFile(path)
	if err != nil {
		if state := unseen(path, err); state != "" {
			return nil, state, nil
		}
		return nil, "", cause(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, "", cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, "", errors.New("is no regular file")
	}
	if err := checkOwner(path, info); err != nil {
		return nil, "", err
	}
	text, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, "", cause(err)
	case len(text) > maxFileBytes:
		return nil, "", fmt.Errorf("is longer than the %d bytes allowed", maxFileBytes)
	}
	return text, Read, nil
}

// unseen is the state of a file that could not be opened because nothing of it
// is to be seen: someone else's home directory, as in a container that is
// started as another user, is no reason to fail.
func unseen(path string, err error) State {
	if isMissing(err) {
		return Missing
	}
	if _, statErr := os.Stat(path); errors.Is(err, fs.ErrPermission) && errors.Is(statErr, fs.ErrPermission) {
		return Hidden
	}
	return ""
}

// cause is an error of the file system without the path, which is told anyway.
func cause(err error) error {
	var known *fs.PathError
	if errors.As(err, &known) {
		return known.Err
	}
	return err
}
