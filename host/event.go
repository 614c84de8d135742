package host

import (
	"time"

	"outlast/abi"
)

// Observer gets the events of a call.
type Observer func(Event)

// Event is one of AttemptEnded, Waiting, Repairing, Loaded, InstanceReplaced
// and Stopped.
type Event interface{ event() }

// AttemptEnded follows each attempt.
type AttemptEnded struct {
	Attempt int64         // counted from 1
	At      time.Duration // on the Clock
	OK      bool
	Result  abi.Result
}

// Waiting precedes each wait, and so names the failure that it is for.
type Waiting struct {
	Kind      string
	Budget    string
	Attempt   int64          // the attempt that follows
	Delay     time.Duration  // until it, from the end of the attempt before
	Remaining *time.Duration // of the budget's window, if it has one
	At        time.Duration  // on the Clock
}

// Repairing precedes each repair.
type Repairing struct {
	Kind  string
	Force bool
	At    time.Duration
}

// Loaded says how the plugin was loaded, after a call's first failure.
type Loaded struct {
	How  string        // compiled, cached or interpreted
	Why  string        // why not from the cache, if that was meant
	Took time.Duration // of real time
}

// InstanceReplaced says that an instance of the plugin failed and that the call
// goes on with another.
type InstanceReplaced struct {
	Err error
}

// Stopped is a call's last event.
type Stopped struct {
	Outcome abi.Outcome
	At      time.Duration
}

func (AttemptEnded) event()     {}
func (Waiting) event()          {}
func (Repairing) event()        {}
func (Loaded) event()           {}
func (InstanceReplaced) event() {}
func (Stopped) event()          {}
