package conformance

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Case is one conformance case, as its file has it; README.md beside the case
// files describes the form. Exactly one of Steps, Outage and Export is given.
type Case struct {
	File string `json:"-"`    // without its .json
	Name string `json:"name"` // unique over all files
	Why  string `json:"why"`  // what it shows
	Slow bool   `json:"slow"` // takes seconds in an interpreter

	Doors   []Door          `json:"doors"`    // all of them unless the file says otherwise
	Policy  json.RawMessage `json:"policy"`   // a built-in's name, or a document
	Call    json.RawMessage `json:"call"`     // as in a request
	ClockUS int64           `json:"clock_us"` // the host's clock at the start, in microseconds
	Explain bool            `json:"explain"`  // ask decide to explain
	Steps   []Step          `json:"steps"`
	Outage  *Outage         `json:"outage"`

	Export    string          `json:"export"`     // called once, with one of the following
	Input     json.RawMessage `json:"input"`      // JSON, in whatever form
	Raw       *string         `json:"raw"`        // a text
	RawBase64 string          `json:"raw_base64"` // bytes
	RawParts  []Part          `json:"raw_parts"`  // texts, one after the other

	Want      json.RawMessage `json:"want"` // of Export: members that ok must have; of Outage: an OutageWant
	WantError *WantError      `json:"want_error"`
}

// Door is a way into the plugin.
type Door string

// The doors.
const (
	DoorDecide  Door = "decide"  // the runner drives
	DoorRun     Door = "run"     // the plugin drives, from the first attempt on
	DoorFirst   Door = "first"   // the plugin drives, after a first attempt made without it
	DoorResumed Door = "resumed" // the plugin drives, and its instance is lost after each step
)

// Step is one event of a call, and the action that answers it. Exactly one of
// Attempt, Repair, Woken, Down, NotReady, Cancelled and Broken is given.
type Step struct {
	Attempt   json.RawMessage `json:"attempt"`   // an attempt ended: its result
	Repair    json.RawMessage `json:"repair"`    // a repair ended: its result
	Woken     string          `json:"woken"`     // a wait was cut short: the readiness
	Down      bool            `json:"down"`      // a wait is over, and the server is seen to be down
	NotReady  bool            `json:"not_ready"` // a wait is over, and the server says that it is not ready yet
	Cancelled json.RawMessage `json:"cancelled"` // the caller gave up: the running attempt's result, or true
	Broken    *Broken         `json:"broken"`    // a host function fails or answers nonsense

	WaitUS  *int64 `json:"wait_us"`  // how far the clock moves in the wait before; as asked unless given
	TakesUS int64  `json:"takes_us"` // how far it moves in the attempt or repair
	AfterUS int64  `json:"after_us"` // how far it moves until a wake, or until a cancel without a result
	Random  *int64 `json:"random"`   // the host's random number

	Want      json.RawMessage `json:"want"` // the action, exactly
	WantError *WantError      `json:"want_error"`
}

// Broken is a host function that does not do what it must.
type Broken struct {
	Function string `json:"function"` // such as outlast_sleep
	Answer   string `json:"answer"`   // "" is offset 0
}

// WantError is the error of an envelope. Messages are for people, and not compared.
type WantError struct {
	Code  string `json:"code"`
	Field string `json:"field"` // "" where there is none
	// Faults are the fields of all of a document's faults, in their order; not
	// compared where they are left out.
	Faults []string `json:"faults"`
}

// Part is a text, repeated.
type Part struct {
	Text  string `json:"text"`
	Times int    `json:"times"` // 1 unless given
}

// Outage is a server that is away until a moment. Each attempt that starts
// before it ends in Down, each later one in Up; in between it may be there and
// Loading. Times are microseconds.
type Outage struct {
	Down         json.RawMessage `json:"down"`           // a result
	Loading      json.RawMessage `json:"loading"`        // a result; as Down, unless given
	Up           json.RawMessage `json:"up"`             // a result
	ListensUS    *int64          `json:"listens_us"`     // when the server is there, but not ready; never, unless given
	UpUS         *int64          `json:"up_us"`          // when the server is back; never, unless given
	TakesUS      int64           `json:"takes_us"`       // how long an attempt takes that ends in Down
	FirstTakesUS *int64          `json:"first_takes_us"` // how long the first one takes, if it differs
	UpTakesUS    int64           `json:"up_takes_us"`    // how long one takes that ends in Up
	Random       *int64          `json:"random"`         // the host's random number, at every event
	Notices      string          `json:"notices"`        // how ready the host sees the server in a wait; "": it does not look
	Watches      bool            `json:"watches"`        // it also sees that the server is down, or not ready, until it is up
}

// OutageWant is how such a call must go.
type OutageWant struct {
	StartsUS  []int64         `json:"starts_us"` // when each attempt starts; not compared where it is left out
	Outcome   json.RawMessage `json:"outcome"`   // exactly
	Continues int             `json:"continues"` // how often run gives back what to go on with
}

// Request is the bytes that Export is called with.
func (c *Case) Request() []byte {
	switch {
	case c.Raw != nil:
		return []byte(*c.Raw)
	case c.RawBase64 != "":
		b, err := base64.StdEncoding.DecodeString(c.RawBase64)
		if err != nil {
			panic("conformance: case " + c.Name + ": raw_base64: " + err.Error()) // Load has checked it
		}
		return b
	}
	var b []byte
	for _, part := range c.RawParts {
		b = append(b, strings.Repeat(part.Text, max(1, part.Times))...)
	}
	return append(b, c.Input...)
}
