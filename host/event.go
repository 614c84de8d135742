package host

import (
	"time"

	"outlast/abi"
)

// Observer gets the events of a call.
type Observer func(Event)

// Event is one of AttemptEnded, PolicyInForce, Waiting, Woken, LeftOut, Unwatched,
// Repairing, Loaded, InstanceReplaced and Stopped.
type Event interface{ event() }

// AttemptEnded follows each attempt.
type AttemptEnded struct {
	Attempt int64         // counted from 1
	At      time.Duration // on the Clock
	OK      bool
	Result  abi.Result
}

// PolicyInForce follows the first failure of a call that has Task.Follow: what it
// goes by from here on.
type PolicyInForce struct {
	Policy *Policy
	Why    error // why what is in the folder now is not it; nil: it is
}

// Waiting precedes each wait, and so names the failure that it is for. After
// Woken and LeftOut the wait for the same attempt goes on, with another delay.
type Waiting struct {
	Kind      string
	Budget    string
	Attempt   int64          // the attempt that follows
	Delay     time.Duration  // until it, from the end of the attempt before
	Remaining *time.Duration // of the budget's window, if it has one
	At        time.Duration  // on the Clock
	Watched   abi.Readiness  // of the server, which cuts the wait short; "": nobody watches it
	Again     bool           // it goes on from another wait for the same attempt
}

// Woken says that a wait was cut short, since the server is back.
type Woken struct {
	By abi.Readiness
	At time.Duration
}

// LeftOut says that a wait is over and that the host sees the server down, or there
// but not ready, so that the attempt would fail. The policy may ask for it anyway.
type LeftOut struct {
	At       time.Duration
	NotReady bool // it is there, and not ready yet
}

// Unwatched says why a wait that could be cut short is slept through, or why less is
// looked at than was asked for. It comes once a call, and only if Task.Unwatched or
// what was Seen says so.
type Unwatched struct {
	Why string
}

// Repairing precedes each repair.
type Repairing struct {
	Kind  string
	Force bool
	At    time.Duration
}

// Loaded says how the plugin was loaded, after a call's first failure. It comes
// again once an interpreted plugin is compiled, or is not for some reason.
type Loaded struct {
	How  string        // compiled or interpreted
	Why  string        // why not compiled, if that was meant
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
func (PolicyInForce) event()    {}
func (Waiting) event()          {}
func (Woken) event()            {}
func (LeftOut) event()          {}
func (Unwatched) event()        {}
func (Repairing) event()        {}
func (Loaded) event()           {}
func (InstanceReplaced) event() {}
func (Stopped) event()          {}
