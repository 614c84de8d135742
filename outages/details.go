package outages

import (
	"fmt"
	"time"

	"outlast/abi/strictjson"
)

// details reads what is known beyond the entries, and adds it to them.
func (r *reader) details(v strictjson.Value, list []Outage) {
	if v.Kind == strictjson.Missing {
		return
	}
	m := r.Members(v, "details")
	for i := range list {
		if name := list[i].Name; name != "" && m.Has(name) && list[i].Details == nil {
			r.detailsOf(&list[i], m.Value(name), "details["+strictjson.Quote(name)+"]")
		}
	}
	if len(r.List) > 0 {
		return // names without an outage may follow from a fault of an entry
	}
	for _, name := range v.Names {
		if !named(list, name) {
			r.Add("details["+strictjson.Quote(name)+"]", "no outage in measured has this name")
		}
	}
}

func named(list []Outage, name string) bool {
	for i := range list {
		if list[i].Name == name && list[i].Details != nil {
			return true
		}
	}
	return false
}

func (r *reader) detailsOf(o *Outage, v strictjson.Value, path string) {
	before := len(r.List)
	m := r.Members(v, path)
	m.Require("target")
	d := &Details{Target: m.String("target"), Host: m.String("host"), Tool: m.String("tool")}
	for _, name := range []string{"target", "host", "tool"} {
		r.bounded(m.String(name), m.Path(name))
	}
	d.DownBetween = r.between(m, "down_between")
	d.UpBetween = r.between(m, "up_between")
	d.TCP = r.span(m, "tcp")
	d.HTTP = r.span(m, "http")
	items := m.Array("phases")
	if len(items) > MaxPhases {
		m.Fault("phases", fmt.Sprintf("has %d phases; at most %d are read", len(items), MaxPhases))
		items = nil
	}
	for i, item := range items {
		d.Phases = append(d.Phases, r.phase(item, strictjson.Index(m.Path("phases"), i)))
	}
	resolution := m.Require("resolution")
	m.End()
	o.Details = d
	if o.Down.IsZero() {
		r.Add(path, "its outage has no down and up")
	}
	if len(r.List) == before {
		r.sound(o, path)
		r.resolution(o, resolution, m.Path("resolution"))
	}
}

// between reads the two moments between which something happened.
func (r *reader) between(m *strictjson.Members, name string) (s Span) {
	m.Require(name)
	items := m.Array(name)
	if len(items) != 2 {
		if m.Has(name) {
			m.Fault(name, "expected two times: not before, and not after")
		}
		return Span{}
	}
	s.From = r.moment(items[0], strictjson.Index(m.Path(name), 0))
	s.To = r.moment(items[1], strictjson.Index(m.Path(name), 1))
	return s
}

func (r *reader) moment(v strictjson.Value, path string) time.Time {
	if v.Kind != strictjson.String {
		r.Add(path, "expected a string, not "+v.Kind.String())
		return time.Time{}
	}
	t, _ := r.time(v.Text, path)
	return t
}

func (r *reader) span(m *strictjson.Members, name string) *Span {
	v := m.Value(name)
	if v.Kind == strictjson.Missing {
		return nil
	}
	sm := r.Members(v, m.Path(name))
	s := &Span{r.moment(sm.Require("down"), sm.Path("down")), r.moment(sm.Require("up"), sm.Path("up"))}
	sm.End()
	return s
}

func (r *reader) phase(v strictjson.Value, path string) Phase {
	m := r.Members(v, path)
	var words []string
	for _, s := range states {
		words = append(words, string(s))
	}
	m.Require("state")
	p := Phase{State: State(m.OneOf("state", words...))}
	p.From = r.moment(m.Require("from"), m.Path("from"))
	p.To = r.moment(m.Require("to"), m.Path("to"))
	if n, ok := m.Int("status", 0, 65535); ok {
		p.Status = int(n)
	}
	m.End()
	return p
}

// sound checks that what was seen can have been so.
func (r *reader) sound(o *Outage, path string) {
	d := o.Details
	whole := Span{o.Down, o.Up}
	r.within(o.Down, d.DownBetween, path+".down_between", "down")
	r.within(o.Up, d.UpBetween, path+".up_between", "up")
	for _, s := range []struct {
		name string
		span *Span
	}{{"tcp", d.TCP}, {"http", d.HTTP}} {
		if s.span != nil {
			r.inside(*s.span, whole, path+"."+s.name, "down", "up")
		}
	}
	at := o.Down
	for i, p := range d.Phases {
		r.inside(p.Span, Span{at, o.Up}, strictjson.Index(path+".phases", i), "from", "to")
		at = p.To
	}
}

// within says where a moment is not between two others.
func (r *reader) within(t time.Time, s Span, path, what string) {
	switch {
	case s.To.Before(s.From):
		r.Add(path+"[1]", stamp(s.To)+" is before "+stamp(s.From))
	case t.Before(s.From) || t.After(s.To):
		r.Add(path, what+", "+stamp(t)+", is not between "+stamp(s.From)+" and "+stamp(s.To))
	}
}

// inside says where a span leaves the one around it.
func (r *reader) inside(s, around Span, path, from, to string) {
	switch {
	case s.From.Before(around.From):
		r.Add(path+"."+from, stamp(s.From)+" is out of order: before "+stamp(around.From))
	case s.To.Before(s.From):
		r.Add(path+"."+to, stamp(s.To)+" is out of order: before "+stamp(s.From))
	case s.To.After(around.To):
		r.Add(path+"."+to, stamp(s.To)+" is out of order: after "+stamp(around.To))
	}
}

// resolution must be what follows from the bounds: it is in the file for people.
func (r *reader) resolution(o *Outage, v strictjson.Value, path string) {
	want := strictjson.Quote(formatDuration(o.Resolution()))
	switch {
	case v.Kind != strictjson.String:
		r.Add(path, "expected a string, not "+v.Kind.String())
	case strictjson.Quote(v.Text) != want:
		r.Add(path, "expected "+want+", which follows from down_between and up_between, not "+strictjson.Quote(v.Text))
	}
}
