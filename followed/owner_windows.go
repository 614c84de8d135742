package followed

import (
	"io/fs"
	"os"
)

func openFile(path string) (*os.File, error) { return os.Open(path) }

// checkOwner finds nothing: who may write there is not in the mode.
func checkOwner(string, fs.FileInfo) error { return nil }
