package abi

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// EventType is what a host reports.
type EventType string

// The events. A wait that ended in full is no event, unless it is Down or
// NotReady: the attempt after it says so.
const (
	Attempted EventType = "attempted" // an attempt ended, with its result
	Woken     EventType = "woken"     // a wait was cut short because the server answered
	Down      EventType = "down"      // a wait is over, and the host sees that the server is down
	NotReady  EventType = "not_ready" // as down, and the server is there but says that it is not ready yet
	Repaired  EventType = "repaired"  // a repair ended, with its result
	Cancelled EventType = "cancelled" // the caller gave up; with the attempt's result if one ran
)

var eventTypes = []string{"", string(Attempted), string(Woken), string(Down), string(NotReady), string(Repaired), string(Cancelled)}

// EndsWait says whether the event is a wait's end in full, with a server that
// the host does not see ready: the attempt after it would fail.
func (t EventType) EndsWait() bool { return t == Down || t == NotReady }

// Readiness is how much of an answer the host has seen from a server.
type Readiness string

// The readiness of a server. Ready implies Accepting.
const (
	Accepting Readiness = "accepting" // it accepted a connection
	Ready     Readiness = "ready"     // it answered its health check as expected, twice
)

// AllReadiness are the words for it, after one for none given.
var AllReadiness = []string{"", string(Accepting), string(Ready)}

// Event is one thing that happened to a call.
type Event struct {
	Type   EventType
	NowUS  int64     // when the host saw it, on its monotonic clock, in microseconds
	Random *int64    // from 0 to 2^32-1: the host's own randomness for the next delay
	Result *Result   // of attempted and repaired; of cancelled if an attempt was running
	By     Readiness // of woken
}

// Fields implements fields.Message.
func (e *Event) Fields(f *fields.List) {
	f.Word("type", (*string)(&e.Type), eventTypes).Required().Since("1.0; `down`: 1.1; `not_ready`: 1.2")
	f.Int("now_us", &e.NowUS, -fields.Most, fields.Most).Required().Says("when the host saw it")
	f.OptionalInt("random", &e.Random, 0, 1<<32-1).Says("the [chance](#chance) of the next delay")
	f.Word("by", (*string)(&e.By), AllReadiness).Says("required of `woken`, and of no other: what was seen")
	fields.Optional(f, "result", &e.Result).Says("required of `attempted` and `repaired`; of `cancelled` if an attempt was running; not of `woken`, `down` and `not_ready`")
}

// Check implements fields.Checker.
func (e *Event) Check(c *fields.Checked) {
	switch {
	case e.Type == Woken && !c.Has("by"):
		c.Fault("by", "is missing")
	case e.Type != Woken && c.Has("by"):
		c.Fault("by", "belongs to a woken event only")
	}
	switch {
	case !c.Has("result") && (e.Type == Attempted || e.Type == Repaired):
		c.Fault("result", "is missing")
	case c.Has("result") && (e.Type == Woken || e.Type.EndsWait()):
		c.Fault("result", "does not belong to a "+string(e.Type)+" event")
	}
}

// Encode is the event as JSON, as outlast_attempt answers it.
func (e *Event) Encode() []byte { return fields.Write(e) }

// DecodeEvent reads what a host function answered.
func DecodeEvent(text string) (Event, error) {
	var e Event
	err := decode(text, &e)
	return e, err
}

// decode reads what must be exactly as it is described.
func decode(text string, m fields.Message) error {
	faults, err := fields.Read(text, strictjson.Limits{Bytes: MaxRequestBytes, Depth: MaxDepth}, fields.Strict, m)
	switch {
	case err != nil:
		return &Error{Code: CodeBadRequest, Message: err.Error()}
	case len(faults) > 0:
		return &Error{Code: CodeBadRequest, Message: faults[0].Message, Field: faults[0].Field}
	}
	return nil
}

// Wait is how a sleep ended.
type Wait string

// The ways in which a sleep ends.
const (
	WaitFull      Wait = "full"
	WaitWoken     Wait = "woken"
	WaitDown      Wait = "down"      // full, and the server is seen to be down
	WaitNotReady  Wait = "not_ready" // full, and the server says that it is not ready yet
	WaitCancelled Wait = "cancelled"
)

var waits = []string{"", string(WaitFull), string(WaitWoken), string(WaitDown), string(WaitNotReady), string(WaitCancelled)}

// Slept is what outlast_sleep answers.
type Slept struct {
	Wait   Wait
	By     Readiness // of a woken wait
	NowUS  int64
	Random *int64 // as an event's, for the delay that answers a wait that is woken, down or not ready
}

// Fields implements fields.Message.
func (s *Slept) Fields(f *fields.List) {
	f.Word("wait", (*string)(&s.Wait), waits).Required().Says("how the wait ended").Since("1.0; `down`: 1.1; `not_ready`: 1.2")
	f.Word("by", (*string)(&s.By), AllReadiness).Says("required of `woken`")
	f.Int("now_us", &s.NowUS, -fields.Most, fields.Most).Required().Says("when")
	f.OptionalInt("random", &s.Random, 0, 1<<32-1).Says("of `woken`: the chance of the spread; of `down` and `not_ready`: of the next delay")
}

// Check implements fields.Checker.
func (s *Slept) Check(c *fields.Checked) {
	if s.Wait == WaitWoken && !c.Has("by") {
		c.Fault("by", "is missing")
	}
}

// Encode is the answer as JSON.
func (s *Slept) Encode() []byte { return fields.Write(s) }

// DecodeSlept reads what outlast_sleep answered.
func DecodeSlept(text string) (Slept, error) {
	var s Slept
	err := decode(text, &s)
	return s, err
}

// Now is what outlast_now answers.
type Now struct {
	NowUS int64
}

// Fields implements fields.Message.
func (n *Now) Fields(f *fields.List) {
	f.Int("now_us", &n.NowUS, -fields.Most, fields.Most).Required().Says("the time")
}

// EncodeNow is what outlast_now answers.
func EncodeNow(nowUS int64) []byte { return fields.Write(&Now{nowUS}) }

// DecodeNow reads what outlast_now answered.
func DecodeNow(text string) (nowUS int64, err error) {
	var n Now
	err = decode(text, &n)
	return n.NowUS, err
}
