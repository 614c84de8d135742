package engine

import "time"

// Mode says how a plugin is to be executed.
type Mode int

// The modes.
const (
	// Auto takes compiled code from the disk cache, else interprets: a cold
	// compilation takes a second or more, and the user would wait for it.
	Auto Mode = iota
	// Compiler compiles if the cache has no code, and fills the cache. Where
	// the system forbids executable memory it interprets.
	Compiler
	// Interpreter always interprets, and touches no disk.
	Interpreter
)

// How says how a plugin is executed.
type How int

// The ways.
const (
	Interpreted How = iota
	Compiled        // just now
	Cached          // compiled earlier, found in the disk cache
)

func (h How) String() string {
	switch h {
	case Compiled:
		return "compiled"
	case Cached:
		return "cached"
	}
	return "interpreted"
}

// Loaded tells how a plugin was loaded.
type Loaded struct {
	How  How
	Why  string        // why not from the cache; "" if it was, or was not meant to be
	Took time.Duration // of real time
}

// Filled tells how filling the cache in the background ended.
type Filled struct {
	Err  error         // nil: the cache has been filled
	Took time.Duration // of real time
}
