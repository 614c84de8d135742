// Package policy decides: it recognises how an attempt failed, keeps the
// budgets, and computes the next delay. State and event in, action and state
// out; it has no clock, no sleep, no randomness and no I/O of its own, so it
// gives the same answers natively and as WebAssembly, on every machine.
package policy

import "outlast/abi"

// Document is a policy, parsed and validated. It never changes after Parse, so
// goroutines may share it. Durations are in microseconds; fractions in
// millionths (ppm).
type Document struct {
	Name        string
	Description string
	Measured    []Measured
	KeepColours bool // texts are looked at with their colour sequences in them
	Account     bool // what omnigraph says of its own command is read where it stands, and a write is believed nothing else
	Budgets     []Budget
	Rules       []Rule
	Normal      string // the normalised document: every default filled in
	Digest      string // of Normal: 32 hexadecimal digits

	kinds []string // each rule's kind once, in order: what the state counts in
}

// Measured is an outage that the policy's numbers are sized against.
type Measured struct {
	Name     string
	Duration int64
	Down, Up string // RFC 3339, where it was recorded
	Source   string // where the measurement comes from
}

// Budget bounds the retries of the rules that count on it: by a window of time
// from the first failure seen, or by a number of attempts.
type Budget struct {
	Name       string
	MaxWait    int64 // the window; 0: bounded by Attempts
	Attempts   int64 // with the first failure's; 0: bounded by MaxWait
	Windows    int64 // how many a call may open; 0: one, which never closes
	Broken     int64 // broken connections that a call may retry; -1: any number
	Backoff    Backoff
	CallBudget CallBudget
	RetryAfter *RetryAfter // nil: not heard
	Wake       *WakeRule   // nil: its waits are never cut short
}

// CallBudget is how a budget meets the call's own total budget.
type CallBudget string

// The ways to meet the call's budget.
const (
	CallClamp     CallBudget = "clamp"      // the last delay is cut so that it ends with the call
	CallIgnore    CallBudget = "ignore"     // it does not count here
	CallStopAbove CallBudget = "stop_above" // stop when the delay is longer than what is left
	CallStopAt    CallBudget = "stop_at"    // stop when it is as long or longer
)

// RetryAfter says how far a server's Retry-After is heard.
type RetryAfter struct {
	Max    int64 // a longer one stops the call; 0: any is obeyed
	Jitter int64 // ppm, added on top: never earlier than asked
	Floor  bool  // never earlier than the backoff either
}

// WakeRule says what may cut a budget's waits short.
type WakeRule struct {
	Reads, Writes abi.Readiness // "" : nothing
	Spread        int64         // woken callers start within so long, at random
	HoldOff       int64         // after a vain wake; doubled after each further one
	MaxVain       int64         // vain wakes of a window, after which it only sleeps
}

// Contact is what a result shows of the server.
type Contact string

// The contacts. Answered and broken show that the server was reached, which
// ends the outage and so closes the windows of budgets that count them.
const (
	Unseen   Contact = "unseen"
	Answered Contact = "answered"
	Broken   Contact = "broken" // the connection stood and broke
)

// Rule recognises a kind of failure and says what then happens.
type Rule struct {
	Kind   string
	When   []Condition // alternatives; none: always
	Server Contact
	Then   []Branch // the first whose If holds

	kind int // index in Document.kinds
}

// Condition holds if each of its parts that is given holds.
type Condition struct {
	Transport  string // process or http; "": either
	ExitCodes  []int64
	Signals    []string // "any": whatever signal
	Statuses   []int64  // 0: no status
	Form       Form     // that the program's words have; "": any
	Codes      []string // that an object has; "none": it has none, or is no object
	Details    *bool    // the object has members beside those of every failure
	TimedOut   bool
	Write      *bool
	Sent       []abi.Sent  // what the result says of it
	Effects    abi.Effects // what the result says of them, as a parsed field
	CauseCount int64       // of the report; 0: any
	Text       []TextTest
	Proof      Proof
}

// Proof is that a condition holds only where nothing of the attempt can have been
// applied, though the program does not say so; "": it is none.
type Proof string

// The proofs.
const (
	// ProofRefused is the server's answer to the one request that a remote call
	// makes, given before any effect. It needs the program's account, which tells
	// the answer from a text that quotes one.
	ProofRefused Proof = "refused"
	// ProofExit is an exit code with which a program that gives no account ends
	// before it does anything.
	ProofExit Proof = "exit_code"
)

// holds says whether the condition may be a proof, before its parts are looked at.
func (p Proof) holds(call *abi.Call, v *view) bool {
	switch p {
	case ProofRefused:
		return call.Remote && v.effects == abi.EffectsUnknown && v.accounts
	case ProofExit:
		return v.effects == ""
	}
	return true
}

// Form is how a program's words on its failure come.
type Form string

// The forms.
const (
	FormReport Form = "report" // numbered causes
	FormLines  Form = "lines"  // any other text on stderr
	FormObject Form = "object" // JSON on stdout, or in an HTTP message
)

// TextTest looks for words in one place. It holds if one of Is, Starts and Any
// does (or all three are empty), and every one of All does, and none of None.
// Words are compared without regard to ASCII case.
type TextTest struct {
	In     Place
	At     int64 // the cause's number, of InCause
	Is     []Marker
	Starts []Marker
	Any    []Marker
	All    []Marker
	None   []Marker
}

// Marker is words to look for, as the document has them and in lower case.
type Marker struct {
	Text  string
	lower string
}

// Place is where words are looked for.
type Place string

// The places. Only Anywhere and Shown can meet words that a user or a server
// put there.
const (
	InMessage  Place = "message"  // cause 0, 0.13's first line, a JSON error, an HTTP message
	InCause    Place = "cause"    // cause At of a report
	InAnywhere Place = "anywhere" // all that stderr, the JSON error object or the HTTP message has
	InShown    Place = "shown"    // as anywhere, but of a JSON error object on stdout only its error and code
)

// Branch is one way to go on. Exactly one of Retry and Stop is given.
type Branch struct {
	If     If
	Retry  int // index in Document.Budgets; -1: stop
	Repair *RepairRule
	Stop   *StopRule
}

// If is what must hold for a call; a nil part is not asked for.
type If struct {
	Remote, Write, SurfaceConflict, ConnectRetry *bool
}

// RepairRule asks for a repair before the retry.
type RepairRule struct {
	Once     bool // a second one is not asked for: the branch is passed over
	Force    bool
	StopFail bool // a repair that fails stops the call
}

// StopRule ends the call.
type StopRule struct {
	Effects abi.Effects     // of a write; a read has none
	Outcome abi.OutcomeType // "": failed, or indeterminate where effects are unknown
	Remedy  string
}
