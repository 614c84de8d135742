//go:build unix && !linux

package subprocess

import "os"

func openUnnamed(dir string) (*os.File, error) { return openNamed(dir) }
