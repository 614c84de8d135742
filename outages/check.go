package outages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

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

// checked are the outages, once they have been compared with each other.
func (r *reader) checked(list []Outage, path string) []Outage {
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
	return list
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

// time reads a time. Before 1970 nobody measured, and the zero time is none.
func (r *reader) time(text, path string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		r.Add(path, `expected a time such as "2026-08-03T21:20:21Z", not `+strictjson.Quote(text))
		return time.Time{}, false
	}
	t = t.UTC()
	if t.Truncate(time.Microsecond) != t {
		r.Add(path, "expected whole microseconds, not "+strictjson.Quote(text))
		return time.Time{}, false
	}
	return t, true
}
