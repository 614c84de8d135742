//go:build unix && !linux

package process

import "os"

func openUnnamed(dir string) (*os.File, error) { return openNamed(dir) }
