// Package quietquit has SIGQUIT end the tool without a dump of its goroutines. It
// must do so before the tool's other packages are set up, which takes
// milliseconds. Only an init can: Go sets packages up one after another, each as
// soon as those that it needs are, and this one needs few.
package quietquit

import "outlast/process/quit"

func init() { quit.Quietly() }
