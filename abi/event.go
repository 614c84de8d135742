package abi

import "outlast/abi/strictjson"

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

// EndsWait says whether the event is a wait's end in full, with a server that
// the host does not see ready: the attempt after it would be in vain.
func (t EventType) EndsWait() bool { return t == Down || t == NotReady }

// Readiness is how much of an answer the host has seen from a server.
type Readiness string

// The readiness of a server. Ready implies Accepting.
const (
	Accepting Readiness = "accepting" // it accepted a connection
	Ready     Readiness = "ready"     // it answered its health check as expected, twice
)

// Event is one thing that happened to a call.
type Event struct {
	Type   EventType
	NowUS  int64     // when the host saw it, on its monotonic clock, in microseconds
	Random *int64    // from 0 to 2^32-1: the host's own randomness for the next delay
	Result *Result   // of attempted and repaired; of cancelled if an attempt was running
	By     Readiness // of woken
}

func readEvent(f *strictjson.Faults, v strictjson.Value, path string) Event {
	m := f.Members(v, path)
	m.Require("type")
	e := Event{Type: EventType(m.OneOf("type", string(Attempted), string(Woken), string(Down), string(NotReady), string(Repaired), string(Cancelled)))}
	m.Require("now_us")
	e.NowUS, _ = m.Int("now_us", -strictjson.MaxInteger, strictjson.MaxInteger)
	if n, ok := m.Int("random", 0, 1<<32-1); ok {
		e.Random = &n
	}
	if result := m.Value("result"); result.Kind != strictjson.Missing {
		e.Result = readResult(f, result, m.Path("result"))
	}
	by := m.Value("by")
	switch {
	case e.Type == Woken:
		e.By = Readiness(m.OneOf("by", string(Accepting), string(Ready)))
		if by.Kind == strictjson.Missing {
			m.Fault("by", "is missing")
		}
	case by.Kind != strictjson.Missing:
		m.Fault("by", "belongs to a woken event only")
	}
	switch {
	case e.Result == nil && (e.Type == Attempted || e.Type == Repaired):
		m.Fault("result", "is missing")
	case e.Result != nil && (e.Type == Woken || e.Type.EndsWait()):
		m.Fault("result", "does not belong to a "+string(e.Type)+" event")
	}
	m.End()
	return e
}

func (e *Event) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("type", string(e.Type))
	w.Name("now_us")
	w.Int(e.NowUS)
	writeOptional(w, "random", e.Random)
	w.StringMember("by", string(e.By))
	if e.Result != nil {
		w.Name("result")
		e.Result.write(w)
	}
	w.Close('}')
}

// Encode is the event as JSON, as outlast_attempt answers it.
func (e *Event) Encode() []byte {
	var w strictjson.Writer
	e.write(&w)
	return w.Bytes
}

// DecodeEvent reads what a host function answered.
func DecodeEvent(text string) (Event, error) {
	var e Event
	err := decode(text, func(f *strictjson.Faults, v strictjson.Value) { e = readEvent(f, v, "") })
	return e, err
}

// decode parses text strictly and hands it to read.
func decode(text string, read func(*strictjson.Faults, strictjson.Value)) error {
	v, err := strictjson.Parse(text, strictjson.Limits{Bytes: MaxRequestBytes, Depth: MaxDepth})
	if err != nil {
		return &Error{Code: CodeBadRequest, Message: err.Error()}
	}
	var f strictjson.Faults
	read(&f, v)
	if len(f.List) > 0 {
		return &Error{Code: CodeBadRequest, Message: f.List[0].Message, Field: f.List[0].Field}
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

// Slept is what outlast_sleep answers.
type Slept struct {
	Wait   Wait
	By     Readiness // of a woken wait
	NowUS  int64
	Random *int64 // as an event's, for the delay that answers a wait that is woken, down or not ready
}

// Encode is the answer as JSON.
func (s *Slept) Encode() []byte {
	var w strictjson.Writer
	w.Open('{')
	w.StringMember("wait", string(s.Wait))
	w.StringMember("by", string(s.By))
	w.Name("now_us")
	w.Int(s.NowUS)
	writeOptional(&w, "random", s.Random)
	w.Close('}')
	return w.Bytes
}

// DecodeSlept reads what outlast_sleep answered.
func DecodeSlept(text string) (Slept, error) {
	var s Slept
	err := decode(text, func(f *strictjson.Faults, v strictjson.Value) {
		m := f.Members(v, "")
		m.Require("wait")
		s.Wait = Wait(m.OneOf("wait", string(WaitFull), string(WaitWoken), string(WaitDown), string(WaitNotReady), string(WaitCancelled)))
		if m.Has("by") || s.Wait == WaitWoken {
			m.Require("by")
			s.By = Readiness(m.OneOf("by", string(Accepting), string(Ready)))
		}
		m.Require("now_us")
		s.NowUS, _ = m.Int("now_us", -strictjson.MaxInteger, strictjson.MaxInteger)
		if n, ok := m.Int("random", 0, 1<<32-1); ok {
			s.Random = &n
		}
		m.End()
	})
	return s, err
}

// EncodeNow is what outlast_now answers.
func EncodeNow(nowUS int64) []byte {
	var w strictjson.Writer
	w.Open('{')
	w.Name("now_us")
	w.Int(nowUS)
	w.Close('}')
	return w.Bytes
}

// DecodeNow reads what outlast_now answered.
func DecodeNow(text string) (nowUS int64, err error) {
	err = decode(text, func(f *strictjson.Faults, v strictjson.Value) {
		m := f.Members(v, "")
		m.Require("now_us")
		nowUS, _ = m.Int("now_us", -strictjson.MaxInteger, strictjson.MaxInteger)
		m.End()
	})
	return nowUS, err
}
