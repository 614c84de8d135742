package config

import (
	"errors"
	"io/fs"
	"os"
)

func openFile(path string) (*os.File, error) { return os.Open(path) }

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// checkOwner finds nothing: who may write there is not in the mode.
func checkOwner(string, fs.FileInfo) error { return nil }
