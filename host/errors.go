package host

import (
	"errors"
	"fmt"

	"outlast/abi"
)

// CallError says that a call did not succeed. errors.As finds in it whatever the
// last attempt returned as its error, and errors.Is why the context ended a call
// that was cancelled.
type CallError struct {
	Outcome *abi.Outcome // how the call ended; never ok
	Err     error        // what the last attempt that failed returned beside its result; nil: nothing

	text  string
	cause error // why the context ended the call; nil: it did not
}

func (e *CallError) Error() string { return e.text }

func (e *CallError) Unwrap() []error { return both(e.Err, e.cause) }

// Timeout says whether a deadline ended the call, or its last attempt, as net.Error
// has it: os.IsTimeout and url.Error ask for it, and unwrap nothing.
func (e *CallError) Timeout() bool {
	for _, err := range e.Unwrap() {
		var t interface{ Timeout() bool }
		if errors.As(err, &t) && t.Timeout() {
			return true
		}
	}
	return false
}

// both are the errors that there are.
func both(errs ...error) (list []error) {
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// failed is the error of a call that ended without an outcome, with the last
// attempt's own in it.
func (d *driver) failed(err error) error {
	var p *PluginError
	if errors.As(err, &p) {
		p.LastErr = d.own
	}
	return err
}

// PolicyError says that a policy cannot be used. Faults lists all that is wrong
// with a document.
type PolicyError struct {
	Name string // as the caller gave it
	Err  *abi.Error
}

func (e *PolicyError) Error() string {
	text := "outlast: policy " + e.Name + ": "
	if e.Err.Field != "" {
		text += e.Err.Field + ": "
	}
	text += e.Err.Message
	if more := len(e.Err.Faults) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func (e *PolicyError) Unwrap() error { return e.Err }

// PluginError says that the plugin cannot be used, or failed. LastResult is the
// call's last result, which is kept whatever went wrong here; after a wait its
// texts are cut to what an outcome would quote of them. LastErr is what that
// attempt returned as its error, which errors.As finds too.
type PluginError struct {
	Doing      string
	Err        error
	LastResult *abi.Result
	LastErr    error
}

func (e *PluginError) Error() string {
	return "outlast: " + e.Doing + ": " + e.Err.Error()
}

func (e *PluginError) Unwrap() []error { return both(e.Err, e.LastErr) }
