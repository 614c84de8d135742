// Package early does what the tool must do before its other packages are set
// up, which takes milliseconds. Only an init can: Go sets packages up one after
// another, each as soon as those that it needs are, and this one needs few.
package early

import "outlast/process/quit"

func init() { quit.Quietly() }
