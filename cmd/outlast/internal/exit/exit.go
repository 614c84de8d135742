// Package exit has the errors that say which exit code the tool ends with.
package exit

import "fmt"

// The tool's own exit codes. Every other is the wrapped command's.
const (
	CodeNotSo    = 1 // what was asked for does not hold: an outage is not outlasted, a policy is refused, a case is not as expected
	CodeUsage    = 2
	CodeUnusable = 3 // a policy or plugin that cannot be used
	CodeRepeats  = 4 // policy diff: what is repeated differs
)

// Error is an error with the exit code that goes with it.
type Error struct {
	Code int
	Err  error // nil: everything has been said already
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usage is an error of what the user has written.
func Usage(format string, args ...any) error {
	return &Error{CodeUsage, fmt.Errorf(format, args...)}
}

// Unusable is an error of what the tool cannot use.
func Unusable(err error) error { return &Error{CodeUnusable, err} }
