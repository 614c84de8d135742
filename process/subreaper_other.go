//go:build !linux

package process

import (
	"errors"
	"fmt"
)

// BecomeSubreaper is for Linux only: elsewhere an attempt's group is all that
// is ended. Its error is errors.ErrUnsupported.
func BecomeSubreaper() error {
	return fmt.Errorf("outlast: becoming the parent of orphans: %w", errors.ErrUnsupported)
}
