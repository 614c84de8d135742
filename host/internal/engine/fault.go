package engine

import (
	"fmt"
	"strings"
)

// Fault is a way in which a plugin fails.
type Fault string

// The faults.
const (
	FaultTrap     Fault = "trap"      // it did what WebAssembly forbids
	FaultExit     Fault = "exit"      // it ended itself, even with code 0; so ends a lack of memory too
	FaultCode     Fault = "code"      // it returned another code than 0
	FaultError    Fault = "error"     // it set Extism's error
	FaultNoOutput Fault = "no output" // it set no output
)

// CallError says how a plugin failed.
type CallError struct {
	Export string
	Fault  Fault
	Code   uint32 // of FaultExit and FaultCode
	// Detail is what the plugin printed or set as its error, at most 2 KiB. It
	// may quote what the user's program printed, so it is not part of the
	// error's text.
	Detail string
	Err    error // wazero's, of FaultTrap
}

func (e *CallError) Error() string {
	what := "it gave no output"
	switch e.Fault {
	case FaultTrap:
		what = "it trapped: " + e.Err.Error()
	case FaultExit:
		what = fmt.Sprintf("it exited with code %d", e.Code)
	case FaultCode:
		what = fmt.Sprintf("it returned the code %d instead of 0", e.Code)
	case FaultError:
		what = "it set an error instead of answering with one"
	}
	return fmt.Sprintf("outlast: calling the plugin's export %s: %s", e.Export, what)
}

func (e *CallError) Unwrap() error { return e.Err }

// firstLine is an error without the stack trace that wazero adds.
type firstLine struct{ error }

func (f firstLine) Error() string {
	line, _, _ := strings.Cut(f.error.Error(), "\n")
	return line
}

func (f firstLine) Unwrap() error { return f.error }
