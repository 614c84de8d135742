package engine

import "time"

// Mode says how a plugin is to be executed.
type Mode int

// The modes.
const (
	// Auto interprets, since compiling takes a second, and the user would wait for
	// it. Once interpreting has taken as long as that, the plugin is compiled in the
	// background, if there is memory for it.
	Auto Mode = iota
	// Compiler compiles. Where the system forbids executable memory it interprets.
	Compiler
	// Interpreter always interprets.
	Interpreter
)

// How says how a plugin is executed.
type How int

// The ways.
const (
	Interpreted How = iota
	Compiled
)

func (h How) String() string {
	if h == Compiled {
		return "compiled"
	}
	return "interpreted"
}

// Loaded tells how a plugin was loaded.
type Loaded struct {
	How  How
	Why  string        // why not compiled; "" if it was, or was not meant to be
	Took time.Duration // of real time
}
