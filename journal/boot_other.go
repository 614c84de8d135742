//go:build !linux

package journal

import "time"

// sinceBoot is known on Linux only.
func sinceBoot() (boot string, since time.Duration) { return "", 0 }
