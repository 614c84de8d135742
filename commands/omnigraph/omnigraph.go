// Package omnigraph knows what is special about the omnigraph command line:
// what an invocation reads or writes and where, how it gets its token, how a
// store is repaired, and which lock its writers take.
//
// Commands and flags are those of omnigraph 0.8 to 0.14, as its usage text and
// its documentation list them, and those that witan-core calls.
package omnigraph

import "outlast/commands/internal/line"

// Command is omnigraph. Its program is a hundred times as large as the others'
// and is not looked through where its name says enough; its lines are read by
// Parse, which tells more than a line.Line holds.
var Command = line.Command{Words: "omnigraph", ByName: true}

// Is says whether a command is omnigraph, by its base name.
func Is(command string) bool { return line.Base(command) == "omnigraph" }
