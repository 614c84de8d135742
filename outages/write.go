package outages

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"outlast/abi/strictjson"
)

// Format is the text of a file that has these outages, in their order. It is
// read back before it is given, so an error, an *Error, says what Parse would
// refuse.
func Format(list []Outage) ([]byte, error) {
	var w strictjson.Writer
	w.Open('{')
	w.Name("version")
	w.Int(Version)
	w.Name("measured")
	w.Open('[')
	detailed := false
	for i := range list {
		writeEntry(&w, &list[i])
		detailed = detailed || list[i].Details != nil
	}
	w.Close(']')
	if detailed {
		w.Name("details")
		w.Open('{')
		for i := range list {
			if list[i].Details != nil {
				w.Name(list[i].Name)
				writeDetails(&w, &list[i])
			}
		}
		w.Close('}')
	}
	w.Close('}')
	var text bytes.Buffer
	if err := json.Indent(&text, w.Bytes, "", "  "); err != nil {
		return nil, err
	}
	text.WriteByte('\n')
	if _, err := Parse(text.String()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func writeEntry(w *strictjson.Writer, o *Outage) {
	w.Open('{')
	w.StringMember("name", o.Name)
	w.StringMember("duration", formatDuration(o.Duration))
	writeTime(w, "down", o.Down)
	writeTime(w, "up", o.Up)
	w.StringMember("source", o.Source)
	w.Close('}')
}

func writeDetails(w *strictjson.Writer, o *Outage) {
	d := o.Details
	w.Open('{')
	w.Name("target")
	w.String(d.Target)
	w.StringMember("host", d.Host)
	w.StringMember("tool", d.Tool)
	w.StringMember("resolution", formatDuration(o.Resolution()))
	writeBetween(w, "down_between", d.DownBetween)
	writeBetween(w, "up_between", d.UpBetween)
	writeSpan(w, "tcp", d.TCP)
	writeSpan(w, "http", d.HTTP)
	if len(d.Phases) > 0 {
		w.Name("phases")
		w.Open('[')
		for _, p := range d.Phases {
			w.Open('{')
			w.StringMember("state", string(p.State))
			w.StringMember("from", stamp(p.From))
			w.StringMember("to", stamp(p.To))
			w.IntMember("status", int64(p.Status))
			w.Close('}')
		}
		w.Close(']')
	}
	w.Close('}')
}

func writeBetween(w *strictjson.Writer, name string, s Span) {
	w.Name(name)
	w.Open('[')
	w.String(stamp(s.From))
	w.String(stamp(s.To))
	w.Close(']')
}

func writeSpan(w *strictjson.Writer, name string, s *Span) {
	if s == nil {
		return
	}
	w.Name(name)
	w.Open('{')
	w.StringMember("down", stamp(s.From))
	w.StringMember("up", stamp(s.To))
	w.Close('}')
}

func writeTime(w *strictjson.Writer, name string, t time.Time) {
	if !t.IsZero() {
		w.StringMember(name, stamp(t))
	}
}

// stamp is a time as files have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00") }

// formatDuration writes a duration as a policy's normal form has it: 61s, 500ms.
func formatDuration(d time.Duration) string {
	micros := d.Microseconds()
	for _, u := range []struct {
		name   string
		micros int64
	}{{"s", 1e6}, {"ms", 1e3}} {
		if micros >= u.micros {
			fraction := strconv.FormatInt(u.micros+micros%u.micros, 10)[1:] // with its leading zeros
			return strings.TrimSuffix(strings.TrimRight(strconv.FormatInt(micros/u.micros, 10)+"."+fraction, "0"), ".") + u.name
		}
	}
	return strconv.FormatInt(micros, 10) + "us"
}
