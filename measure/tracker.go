package measure

import (
	"fmt"
	"time"

	"outlast/outages"
)

// EventKind is what became of a target with a look at it.
type EventKind int

// The kinds of events.
const (
	Same     EventKind = iota // as before
	Absent                    // it is not up, and has not been seen up yet; told once a state
	Present                   // it is up, for the first time or after the clock jumped
	Down                      // an outage begins
	Changed                   // the outage goes on, in another state
	Back                      // it is up again; whether it stays so is not known yet
	Ended                     // it has stayed up: the outage is over and recorded
	Unusable                  // the clock jumped: what was going on is forgotten
)

// Event is one look at the target and what followed from it.
type Event struct {
	Kind    EventKind
	Sample  Sample
	For     time.Duration   // how long the outage has lasted so far; of Back and Ended: in all
	Outage  *outages.Outage // of Ended
	Settled bool            // of Ended: it has been up for as long as it must; else the watch ended first
}

// tracker makes outages of samples. Each sample must start after the one before
// has ended.
type tracker struct {
	target     *Target
	every      time.Duration
	hold       time.Duration
	host, tool string

	absent outages.State // told already
	good   *Sample       // the last one, while there is no outage; nil: never yet
	open   *open         // nil: there is no outage
}

// open is an outage that has not ended.
type open struct {
	lastGood Sample // before it
	first    Sample
	lastBad  Sample
	back     *Sample // the first good one since lastBad; nil: there is none
	phases   []phase
	tcp      []time.Time // when nothing accepted first, and when something did again
}

type phase struct {
	state  outages.State
	status int
	from   time.Time
}

// feed takes the next sample.
func (t *tracker) feed(s Sample) Event {
	e := Event{Sample: s}
	switch {
	case t.open != nil:
		t.during(&e)
	case s.Good():
		if t.good == nil {
			e.Kind = Present
		}
		t.good, t.absent = &s, ""
	case t.good == nil: // when it went away is not known: nothing to record
		if t.absent != s.State {
			e.Kind, t.absent = Absent, s.State
		}
	default:
		e.Kind = Down
		t.open = &open{lastGood: *t.good, first: s}
		t.open.bad(s)
	}
	return e
}

func (t *tracker) during(e *Event) {
	o, s := t.open, e.Sample
	e.For = s.End.Sub(o.first.Start)
	if !s.Good() {
		if o.bad(s) {
			e.Kind = Changed
		}
		return
	}
	if o.back == nil {
		o.back = &s
		o.accepted(&s)
		e.Kind = Back
	}
	if up := s.End.Sub(o.back.End); up >= t.hold {
		*e = t.end(s)
	}
}

// end is the outage's end, if it is up again; the last sample is the one that
// shows it.
func (t *tracker) end(last Sample) Event {
	o := t.open
	t.open, t.good = nil, &last
	settled := last.End.Sub(o.back.End) >= t.hold
	return Event{Kind: Ended, Sample: last, For: o.back.End.Sub(o.first.Start), Outage: t.record(o), Settled: settled}
}

// forget is for when time itself is in doubt.
func (t *tracker) forget() { t.open, t.good, t.absent = nil, nil, "" }

// bad takes a sample of the outage, and says whether it is a new phase.
func (o *open) bad(s Sample) (changed bool) {
	if o.back != nil {
		o.add(phase{outages.Ready, 0, o.back.Start})
		o.back = nil
	}
	o.lastBad = s
	if s.Connected.IsZero() {
		if len(o.tcp) == 0 {
			o.tcp = append(o.tcp, s.Start)
		}
		o.tcp = o.tcp[:1] // it is not back, or not any more
	} else {
		o.accepted(&s)
	}
	return o.add(phase{s.State, s.Status, s.Start})
}

// accepted notes when connections were accepted again.
func (o *open) accepted(s *Sample) {
	if len(o.tcp) == 1 && !s.Connected.IsZero() {
		o.tcp = append(o.tcp, s.Connected)
	}
}

func (o *open) add(p phase) (changed bool) {
	if n := len(o.phases); n > 0 && o.phases[n-1].state == p.state && o.phases[n-1].status == p.status {
		return false
	}
	o.phases = append(o.phases, p)
	return true
}

// nameTime tells apart all outages that looks a millisecond apart can find.
const nameTime = "2006-01-02T15:04:05.999Z07:00"

// record is the outage as files have it. Moments are counted from its beginning,
// on the monotonic clock.
func (t *tracker) record(o *open) *outages.Outage {
	anchor := o.first.Start.Round(0).UTC()
	moment := func(at time.Time) time.Time {
		return anchor.Add(at.Sub(o.first.Start)).Truncate(time.Microsecond)
	}
	span := func(from, to time.Time) outages.Span { return outages.Span{From: moment(from), To: moment(to)} }
	whole := span(o.first.Start, o.back.End)
	d := &outages.Details{
		Target: t.target.String(), Host: t.host, Tool: t.tool,
		DownBetween: span(o.lastGood.Start, o.first.End),
		UpBetween:   span(o.lastBad.Start, o.back.End),
	}
	if t.target.Scheme == "http" || t.target.Scheme == "https" {
		d.HTTP = &whole
	}
	if len(o.tcp) == 2 && t.target.Scheme != "" {
		s := span(o.tcp[0], o.tcp[1])
		d.TCP = &s
	}
	for i, p := range o.phases[:min(len(o.phases), outages.MaxPhases)] {
		to := o.back.End
		if i+1 < len(o.phases) {
			to = o.phases[i+1].from
		}
		d.Phases = append(d.Phases, outages.Phase{State: p.state, Status: int64(p.status), Span: span(p.from, to)})
	}
	out := &outages.Outage{
		Name:     fmt.Sprintf("%s at %s", d.Target, whole.From.Format(nameTime)),
		Duration: whole.Duration(), Down: whole.From, Up: whole.To, Details: d,
	}
	out.Source = fmt.Sprintf("outlast measure %s from %s every %v, exact to %v", d.Target, d.Host, t.every, out.Resolution())
	return out
}
