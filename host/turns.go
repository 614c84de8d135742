package host

import (
	"time"

	"outlast/abi"
)

// Turns is what a Watch may be besides: one by which the callers of a server that
// is back go to it one after another. It sees only what wakes a wait in its turn,
// and learns from each attempt how much the server takes.
type Turns interface {
	Watch

	// Waits says that a wait begins that is over after rest. by, or abi.Ready, cuts
	// it short, but not before held has passed.
	Waits(by abi.Readiness, held, rest time.Duration)

	// Went says how the attempt ended that was made after the watch was stopped.
	Went(How)
}

// How is how an attempt ended for those who wait for the same server.
type How string

// How an attempt may end.
const (
	Answered How = "answered" // the server has done with it
	Failed   How = "failed"   // the call waits again, or was given up
	Left     How = "left"     // neither is known, or there was no attempt
)

// went tells the last watch, once, how the attempt after it ended.
func (d *driver) went(how How) {
	if d.turn != nil {
		d.turn.Went(how)
		d.turn = nil
	}
}

// answeredBy says what an outcome says of the server.
func answeredBy(t abi.OutcomeType) How {
	switch t {
	case abi.OutcomeIndeterminate, abi.OutcomeExhausted:
		return Failed
	case abi.OutcomeCancelled:
		return Left
	}
	return Answered
}
