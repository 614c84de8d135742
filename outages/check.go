package outages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

// reader makes outages of a document, and collects what is wrong with them.
type reader struct {
	strictjson.Faults
}

func (r *reader) outages(d *document) []Outage {
	list := make([]Outage, 0, len(d.measured))
	named := map[string]*Outage{}
	for i, m := range d.measured {
		list = append(list, r.entry(m, strictjson.Index("measured", i)))
		if o := &list[i]; o.Name != "" && named[o.Name] == nil {
			named[o.Name] = o
		}
	}
	for i := range d.details {
		of := &d.details[i]
		if o := named[of.name]; o != nil {
			r.detailed(o, of)
		} else {
			r.Add("details."+of.name, "no outage in measured has this name")
		}
	}
	r.compare(list)
	return list
}

// entry is an outage as a policy has it, with its times.
func (r *reader) entry(m policy.Measured, path string) Outage {
	o := Outage{Name: m.Name, Duration: time.Duration(m.Duration) * time.Microsecond, Source: m.Source}
	for _, t := range []struct{ field, text string }{{"name", m.Name}, {"source", m.Source}} {
		r.bounded(t.text, path+"."+t.field)
	}
	if m.Duration > MaxDuration.Microseconds() {
		r.Add(path+".duration", "is longer than the "+MaxDuration.String()+" that an outage may last")
		return Outage{}
	}
	if m.Down == "" && m.Up == "" {
		return o
	}
	switch {
	case m.Up == "":
		r.Add(path+".up", "is missing: an outage that has not ended does not say how long a wait must be")
		return o
	case m.Down == "":
		r.Add(path+".down", "is missing, though up is given")
		return o
	}
	down, ok := r.time(m.Down, path+".down")
	up, ok2 := r.time(m.Up, path+".up")
	if ok && ok2 {
		o.Down, o.Up = down, up
		r.fits(&o, path)
	}
	return o
}

// slack is how far the times may be from the duration: people, and Kubernetes,
// write them in whole seconds.
const slack = time.Second

func (r *reader) fits(o *Outage, path string) {
	took := o.Up.Sub(o.Down)
	switch {
	case took <= 0:
		r.Add(path+".up", stamp(o.Up)+" is not after down, "+stamp(o.Down))
	case (took - o.Duration).Abs() > slack:
		r.Add(path+".duration", fmt.Sprintf("is %s, but from down to up it is %s", formatDuration(o.Duration), formatDuration(took)))
	}
}

// compare compares the outages with each other.
func (r *reader) compare(list []Outage) {
	const path = "measured"
	named := map[string]int{}
	for i := range list {
		name := list[i].Name
		if first, repeated := named[name]; repeated && name != "" {
			r.Add(strictjson.Index(path, i)+".name", strictjson.Quote(name)+" is the name of "+strictjson.Index(path, first)+" too")
			continue
		}
		named[name] = i
	}
	r.overlaps(list, path)
}

func (r *reader) overlaps(list []Outage, path string) {
	bySeries := map[string][]int{}
	for i := range list {
		if !list[i].Down.IsZero() {
			series := list[i].series()
			bySeries[series] = append(bySeries[series], i)
		}
	}
	for _, series := range slices.Sorted(maps.Keys(bySeries)) {
		order := bySeries[series]
		slices.SortStableFunc(order, func(a, b int) int { return list[a].Down.Compare(list[b].Down) })
		for n := 1; n < len(order); n++ {
			before, i := &list[order[n-1]], order[n]
			if list[i].Down.Before(before.Up) {
				r.Add(strictjson.Index(path, i)+".down", stamp(list[i].Down)+" is before "+strictjson.Index(path, order[n-1])+
					" has ended, "+stamp(before.Up)+": of one source, or one target and host, outages do not overlap")
			}
		}
	}
}

func (r *reader) bounded(text, path string) {
	if len(text) > MaxText {
		r.Add(path, fmt.Sprintf("has %d bytes; at most %d are read", len(text), MaxText))
	}
}

// parseTime reads a time, or says why it is none. Before 1970 nobody measured, and
// the zero time is none.
func parseTime(text string) (t time.Time, why string) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		return time.Time{}, `expected a time such as "2026-08-03T21:20:21Z", not ` + strictjson.Quote(text)
	}
	t = t.UTC()
	if t.Truncate(time.Microsecond) != t {
		return time.Time{}, "expected whole microseconds, not " + strictjson.Quote(text)
	}
	return t, ""
}

func (r *reader) time(text, path string) (t time.Time, ok bool) {
	t, why := parseTime(text)
	if why != "" {
		r.Add(path, why)
	}
	return t, why == ""
}
