package line

import "os"

// mayRead says whether a path may be read.
func mayRead(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}
