//go:build unix

package record

import (
	"errors"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

func noReader(err error) bool { return errors.Is(err, syscall.ENXIO) }
