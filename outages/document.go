package outages

import (
	"fmt"
	"time"

	"outlast/abi/fields"
	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

// document is a file as it is read and written.
type document struct {
	version  int64 // -1: it was not read
	measured []policy.Measured
	details  details
}

// Fields implements fields.Message.
func (d *document) Fields(f *fields.List) {
	f.Int("version", &d.version, 0, fields.Most).Missing(-1).Required()
	fields.Items(f, "measured", &d.measured).Required().
		Between(0, MaxOutages, fmt.Sprintf("has more outages than the %d that are read", MaxOutages))
	f.Add("details", &d.details)
}

// details are those of the outages, by their names.
type details []detailsOf

type detailsOf struct {
	name string
	Details
	resolution string
}

// Read implements fields.Form.
func (d *details) Read(r *fields.Reader) {
	r.Members(func(name string) {
		*d = append(*d, detailsOf{name: name})
		r.Message(&(*d)[len(*d)-1])
	})
}

// Write implements fields.Form.
func (d *details) Write(w *fields.Writer) {
	w.Open('{')
	for i := range *d {
		w.Name((*d)[i].name)
		w.Message(&(*d)[i])
	}
	w.Close('}')
}

// IsDefault implements fields.Form.
func (d *details) IsDefault() bool { return len(*d) == 0 }

// Clear implements fields.Form.
func (d *details) Clear() { *d = nil }

// Describe implements fields.Form.
func (d *details) Describe(*fields.About) {}

// words are the states as fields takes them.
var words = append([]string{""}, statesAsText()...)

func statesAsText() (list []string) {
	for _, s := range states {
		list = append(list, string(s))
	}
	return list
}

// Fields implements fields.Message.
func (d *detailsOf) Fields(f *fields.List) {
	f.String("target", &d.Target, MaxText).Required()
	f.String("host", &d.Host, MaxText)
	f.String("tool", &d.Tool, MaxText)
	f.String("resolution", &d.resolution, MaxText).Required()
	f.Add("down_between", (*between)(&d.DownBetween)).Required()
	f.Add("up_between", (*between)(&d.UpBetween)).Required()
	fields.Optional(f, "tcp", &d.TCP)
	fields.Optional(f, "http", &d.HTTP)
	fields.Items(f, "phases", &d.Phases).
		Between(0, MaxPhases, fmt.Sprintf("has more phases than the %d that are read", MaxPhases))
}

// Fields implements fields.Message.
func (s *Span) Fields(f *fields.List) {
	f.Add("down", (*moment)(&s.From)).Required()
	f.Add("up", (*moment)(&s.To)).Required()
}

// Fields implements fields.Message.
func (p *Phase) Fields(f *fields.List) {
	f.Word("state", (*string)(&p.State), words).Required()
	f.Add("from", (*moment)(&p.From)).Required()
	f.Add("to", (*moment)(&p.To)).Required()
	f.Int("status", &p.Status, 0, 65535)
}

// moment is a time as files have it.
type moment time.Time

// Read implements fields.Form.
func (m *moment) Read(r *fields.Reader) {
	if r.Expect(strictjson.String) {
		t, why := parseTime(r.In.String())
		if why != "" {
			r.Fault(why)
		}
		*m = moment(t)
	}
}

// Write implements fields.Form.
func (m *moment) Write(w *fields.Writer) { w.String(stamp(time.Time(*m))) }

// IsDefault implements fields.Form.
func (m *moment) IsDefault() bool { return time.Time(*m).IsZero() }

// Clear implements fields.Form.
func (m *moment) Clear() { *m = moment{} }

// Describe implements fields.Form.
func (m *moment) Describe(*fields.About) {}

// between is a span as the two moments between which something happened.
type between Span

// Read implements fields.Form.
func (b *between) Read(r *fields.Reader) {
	n, ok := r.Each(2, func(i int) { []*moment{(*moment)(&b.From), (*moment)(&b.To)}[i].Read(r) })
	if ok && n != 2 {
		r.Fault("expected two times: not before, and not after")
	}
}

// Write implements fields.Form.
func (b *between) Write(w *fields.Writer) {
	w.Open('[')
	w.String(stamp(b.From))
	w.String(stamp(b.To))
	w.Close(']')
}

// IsDefault implements fields.Form.
func (b *between) IsDefault() bool { return false }

// Clear implements fields.Form.
func (b *between) Clear() { *b = between{} }

// Describe implements fields.Form.
func (b *between) Describe(*fields.About) {}
