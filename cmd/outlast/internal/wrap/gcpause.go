package wrap

import (
	"runtime/debug"

	"outlast/host"
)

// gcPause keeps Go's garbage collector away from the loading of the plugin.
type gcPause struct {
	usual int // Go's percentage, while another holds
}

// loadingGC is the percentage by which the heap may grow between collections
// while the plugin is loaded: from Go's least heap of 4 MB far enough that none
// falls into it. Collections then took 20 ms of 58, and freed next to nothing
// (measured).
const loadingGC = 800

func (p *gcPause) observe(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		if !e.OK && e.Attempt == 1 {
			p.usual = debug.SetGCPercent(loadingGC)
		}
	case host.Loaded:
		debug.SetGCPercent(p.usual)
	}
}
