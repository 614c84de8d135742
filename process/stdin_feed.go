package process

import "os"

// feed gives one attempt its standard input. Its zero value gives none, and
// its methods do nothing for nil.
type feed struct {
	child *os.File // what the child reads; nil: the null device

	// broken is raised when the input fails while the attempt runs: what the child
	// has is not all of it. The child does not see an end then, which it would
	// take for the input's. nil: cannot happen.
	broken *flag

	running          bool   // the child was started
	started, stopped func() // nil: nothing to do
}

// start is called when the child runs and has its end.
func (f *feed) start() {
	if f == nil {
		return
	}
	f.running = true
	if f.started != nil {
		f.started()
	}
}

// stop is called once the child is gone, or could not be started. After it
// nothing is read, and the input stands where the child left it.
func (f *feed) stop() {
	if f != nil && f.stopped != nil {
		f.stopped()
	}
}
