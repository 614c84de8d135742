package host

import (
	"fmt"

	"outlast/abi"
)

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
// texts are cut to what an outcome would quote of them.
type PluginError struct {
	Doing      string
	Err        error
	LastResult *abi.Result
}

func (e *PluginError) Error() string {
	return "outlast: " + e.Doing + ": " + e.Err.Error()
}

func (e *PluginError) Unwrap() error { return e.Err }
