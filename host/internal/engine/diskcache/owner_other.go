//go:build !unix

package diskcache

import (
	"errors"
	"io/fs"
)

// supported refuses systems where the owner and the mode of a directory do not
// say who may write it.
func supported() error {
	return errors.New("there is no cache of compiled code on this system: whether its directory is private cannot be seen")
}

func self() int { return -2 }

func owner(fs.FileInfo) int { return -1 }
