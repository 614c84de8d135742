package outages

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"outlast/abi/fields"
	"outlast/plugin/policy"
)

// Format is the text of a file that has these outages, in their order. It is
// read back before it is given, so an error, an *Error, says what Parse would
// refuse.
func Format(list []Outage) ([]byte, error) {
	d := &document{version: Version, measured: make([]policy.Measured, 0, len(list))}
	for i := range list {
		o := &list[i]
		m := policy.Measured{Name: o.Name, Duration: o.Duration.Microseconds(), Source: o.Source}
		if !o.Down.IsZero() {
			m.Down = stamp(o.Down)
		}
		if !o.Up.IsZero() {
			m.Up = stamp(o.Up)
		}
		d.measured = append(d.measured, m)
		if o.Details != nil {
			d.details = append(d.details, detailsOf{o.Name, *o.Details, formatDuration(o.Resolution())})
		}
	}
	var text bytes.Buffer
	if err := json.Indent(&text, fields.Write(d), "", "  "); err != nil {
		return nil, err
	}
	text.WriteByte('\n')
	if _, err := Parse(text.String()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
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
