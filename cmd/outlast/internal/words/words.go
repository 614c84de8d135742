// Package words has how the tool's pages put numbers and choices.
package words

import (
	"fmt"
	"strconv"
	"time"
)

// Seconds is a duration as people read it beside a policy's numbers: in
// seconds, with a decimal where there is one.
func Seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// Count is a number of things, such as "2 outages".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Choose is the one text or the other.
func Choose(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// Or is what is given, or the default.
func Or[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
