package outages

import (
	"time"

	"outlast/abi/strictjson"
)

// detailed adds what is known of an outage, and says where that cannot have been
// so. What is said of the resolution must follow from the bounds: it is there for
// people.
func (r *reader) detailed(o *Outage, of *detailsOf) {
	path := "details." + of.name
	o.Details = &of.Details
	if o.Down.IsZero() {
		r.Add(path, "its outage has no down and up")
		return
	}
	before := len(r.List)
	r.sound(o, path)
	want := strictjson.Quote(formatDuration(o.Resolution()))
	if got := strictjson.Quote(of.resolution); got != want && len(r.List) == before {
		r.Add(path+".resolution", "expected "+want+", which follows from down_between and up_between, not "+got)
	}
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
