// Package outages reads and writes files of measured outages: how long a server
// was away, when, and how exactly that is known.
//
//	{
//	  "version": 1,
//	  "measured": [
//	    {"name": "graph at 2026-08-03T21:20:21Z", "duration": "61s",
//	     "down": "…", "up": "…", "source": "…"}
//	  ],
//	  "details": {
//	    "graph at 2026-08-03T21:20:21Z": {"target": "…", "resolution": "1s", "phases": […], …}
//	  }
//	}
//
// measured is what a policy document has under that name, so it can be pasted
// into one as it is; details hold, under an outage's name, what a policy has no
// place for. A policy's own measured, a bare array, is read as well.
package outages

import "time"

// Version is the version of the file's form that this package reads and writes.
const Version = 1

// Bounds of a file, all of them choices: far above what a person measures, and
// low enough that a damaged or invented file is noticed.
const (
	MaxBytes    = 16 << 20
	MaxOutages  = 10_000
	MaxPhases   = 1_000               // of one outage
	MaxDuration = 31 * 24 * time.Hour // longer is no restart
	MaxText     = 1_000               // bytes of a name, a source, a target
)

// Outage is a time during which a server was away. Times are UTC, times and
// durations whole microseconds.
type Outage struct {
	Name     string // unlike every other name in a file, if it has one
	Duration time.Duration
	Down, Up time.Time // both or neither are known
	Source   string    // where the measurement comes from
	Details  *Details  // nil: nothing more is known
}

// Details are what is known of an outage that was watched, or that was put
// together from what others saw.
type Details struct {
	Target string // what was watched
	Host   string // the machine that it was watched from
	Tool   string // what measured it, with its version

	// The server was last seen up at the start of DownBetween and first seen down
	// at its end, so it went away in between; and the other way round.
	DownBetween, UpBetween Span

	TCP    *Span // no connection was accepted; nil: one always was, or nobody looked
	HTTP   *Span // no request was answered as by a server that is ready; likewise
	Phases []Phase
}

// Span is from one moment to another.
type Span struct{ From, To time.Time }

// Duration is how long it lasts.
func (s Span) Duration() time.Duration { return s.To.Sub(s.From) }

// Phase is a part of an outage in which the server was in one state.
type Phase struct {
	State State
	Span
	Status int64 // of Unready: the HTTP status; of Failing: the exit code; else 0
}

// State is what was seen of a server.
type State string

// The states. The first six are seen from outside, the others are what
// Kubernetes says of its pods.
const (
	Refused     State = "refused"     // nothing accepts connections
	Unreachable State = "unreachable" // no answer to a connect, no route, or no such name
	Accepting   State = "accepting"   // it accepts connections and answers no request
	Unready     State = "unready"     // it answers with a status that does not say ready
	Failing     State = "failing"     // the command that was tried fails
	Ready       State = "ready"       // it was up, for too short a time to end the outage

	Terminating State = "terminating" // asked to end
	Pending     State = "pending"     // no successor runs, or it waits for its node
	Starting    State = "starting"    // on its node; images are pulled, containers made
	Booting     State = "booting"     // its container runs and is not ready yet
)

// states are all of them.
var states = []State{
	Refused, Unreachable, Accepting, Unready, Failing, Ready, Terminating, Pending, Starting, Booting,
}

// Resolution is how far the duration that was recorded may be from the true
// one, in either direction.
func (o *Outage) Resolution() time.Duration {
	return max(o.Longest()-o.Duration, o.Duration-o.shortest())
}

// Longest is how long the outage may have lasted: the number to size a budget
// against. Without details it is the duration.
func (o *Outage) Longest() time.Duration {
	if o.Details == nil {
		return o.Duration
	}
	return o.Details.UpBetween.To.Sub(o.Details.DownBetween.From)
}

func (o *Outage) shortest() time.Duration {
	if o.Details == nil {
		return o.Duration
	}
	return max(0, o.Details.UpBetween.From.Sub(o.Details.DownBetween.To))
}

// series tells apart what cannot overlap: one target cannot be away twice at a
// time, but two observers may see the same outage.
func (o *Outage) series() string {
	if o.Details == nil {
		return o.Source
	}
	return o.Details.Target + "\n" + o.Details.Host
}
