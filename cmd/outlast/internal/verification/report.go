package verification

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/words"
	"outlast/outages"
	"outlast/simulate"
)

// Report is what verify found. Times are microseconds.
type Report struct {
	Policy                 string    `json:"policy"`
	Digest                 string    `json:"digest"`
	AttemptDurationUS      int64     `json:"attempt_duration_us"`
	Headroom               float64   `json:"headroom"` // that is asked for
	OK                     bool      `json:"ok"`
	Checks                 []Check   `json:"checks"`
	NotRepeated            []Refused `json:"not_repeated"`
	SmallestUS             int64     `json:"smallest_max_wait_us,omitempty"`
	SmallestWithHeadroomUS int64     `json:"smallest_max_wait_with_headroom_us,omitempty"`

	Spread *Spread `json:"spread,omitempty"`

	outages []outages.Outage
}

// Check is one outage and one kind of call.
type Check struct {
	Outage      string  `json:"outage"`
	Source      string  `json:"source,omitempty"`
	Call        string  `json:"call"` // read or write
	LastsUS     int64   `json:"lasts_us"`
	Outlasted   bool    `json:"outlasted"`
	NotProvable bool    `json:"not_provable,omitempty"` // too many attempts: message says how many, and what follows is not known
	OutlastsUS  int64   `json:"outlasts_us"`            // the longest outage that would be
	Headroom    float64 `json:"headroom"`
	FailsUS     int64   `json:"fails_if_begun_before_us"` // since the outage began; 0: whenever it begins, it succeeds
	LagUS       int64   `json:"worst_lag_us"`             // how long after the server's return a call that succeeds does so
	LagBeginUS  int64   `json:"worst_lag_begin_us"`       // if it begins at this moment
	StartsUS    []int64 `json:"worst_attempts_us"`        // of the worst course, since the call began
	Message     string  `json:"message"`                  // of the worst call
	Fault       string  `json:"fault,omitempty"`

	read   bool
	number int // of the outage
}

// Refused is a kind of call that the policy does not repeat.
type Refused struct {
	Call    string `json:"call"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

func (r *Report) notRepeated(read bool, not *simulate.NotRetried) {
	r.NotRepeated = append(r.NotRepeated, Refused{words.Choose(read, "read", "write"), not.Outcome.Kind, not.Outcome.Message})
}

// unproven has every outage as one that may not be outlasted.
func (r *Report) unproven(read bool, many *simulate.TooMany) {
	for i, o := range r.outages {
		r.Checks = append(r.Checks, Check{
			Outage: o.Name, Source: o.Source, Call: words.Choose(read, "read", "write"), read: read, number: i,
			LastsUS: o.Longest().Microseconds(), NotProvable: true, FailsUS: o.Longest().Microseconds(),
			StartsUS: []int64{}, Message: many.Error(), Fault: many.Error(),
		})
	}
	r.OK = false
}

func (r *Report) longest() (d time.Duration) {
	for _, o := range r.outages {
		d = max(d, o.Longest())
	}
	return d
}

// needed is the longest outage with the headroom, to the microsecond above.
func (r *Report) needed() time.Duration {
	need := time.Duration(float64(r.longest()) * r.Headroom)
	return need.Truncate(time.Microsecond)
}

// check plays one outage with the worst of the courses.
func (r *Report) check(ctx context.Context, courses *simulate.Courses, extremes []*simulate.Course, i int, read bool) error {
	o, worst := &r.outages[i], extremes[0]
	// The earlier in the outage a call begins the more of it there is to outlast.
	story, err := courses.Confirm(ctx, worst, o.Longest(), 0)
	if err != nil {
		return err
	}
	c := Check{
		Outage: o.Name, Source: o.Source, Call: words.Choose(read, "read", "write"), read: read, number: i,
		LastsUS: o.Longest().Microseconds(), Outlasted: story.OK(), OutlastsUS: worst.Last().Microseconds(),
		Headroom: worst.Last().Seconds() / o.Longest().Seconds(), Message: story.Outcome.Message,
	}
	for _, start := range worst.Starts {
		c.StartsUS = append(c.StartsUS, start.Microseconds())
	}
	if c.Outlasted {
		err = c.lag(ctx, courses, extremes, o.Longest())
	} else {
		err = c.fails(ctx, courses, worst, o.Longest())
	}
	if err != nil {
		return err
	}
	switch {
	case !c.Outlasted:
		c.Fault = c.Message
	case o.Longest() == r.longest() && worst.Last() < r.needed():
		c.Fault = fmt.Sprintf("its headroom is %.2f, less than %v", c.Headroom, r.Headroom)
	}
	r.OK = r.OK && c.Fault == ""
	r.Checks = append(r.Checks, c)
	return nil
}

// lag finds the course and the beginning with which the call goes on waiting
// for the longest time after the server is back.
func (c *Check) lag(ctx context.Context, courses *simulate.Courses, extremes []*simulate.Course, outage time.Duration) error {
	var longest, begin time.Duration
	slowest := extremes[0]
	for _, course := range extremes {
		if lag, at := course.Lag(outage); lag > longest {
			longest, begin, slowest = lag, at, course
		}
	}
	_, err := courses.Confirm(ctx, slowest, outage, begin)
	c.LagUS, c.LagBeginUS = longest.Microseconds(), begin.Microseconds()
	return err
}

// fails finds the moments to begin at which the call gives up: those before the
// one from which on its last attempt comes late enough.
func (c *Check) fails(ctx context.Context, courses *simulate.Courses, worst *simulate.Course, outage time.Duration) error {
	from := outage - worst.Last()
	c.FailsUS = from.Microseconds()
	for _, begin := range []time.Duration{from - time.Microsecond, from} {
		story, err := courses.Confirm(ctx, worst, outage, begin)
		if err != nil {
			return err
		}
		if story.OK() != (begin == from) {
			return fmt.Errorf("a call that begins after %v of it ends with %s", begin, story.Outcome.Type)
		}
	}
	return nil
}

// Verdict is an *exit.Error if an outage is not outlasted, or not with the headroom.
func (r *Report) Verdict() error {
	failed, unproven := map[int]bool{}, ""
	for _, c := range r.Checks {
		if !c.Outlasted {
			failed[c.number] = true
		}
		if c.NotProvable {
			unproven = c.Message
		}
	}
	switch {
	case unproven != "":
		return &exit.Error{Code: exit.CodeNotSo, Err: fmt.Errorf("that policy %s outlasts %s cannot be shown: %s", r.Policy, words.Count(len(failed), "measured outage"), unproven)}
	case len(failed) > 0:
		return &exit.Error{Code: exit.CodeNotSo, Err: fmt.Errorf("policy %s does not outlast %s of %d%s", r.Policy, words.Count(len(failed), "measured outage"), len(r.outages), r.advice())}
	case r.Spread != nil && r.Spread.Fault != "":
		what := words.Choose(r.Spread.Verdict == NoRoom, "leaves its callers no room", "does not keep its callers apart")
		return &exit.Error{Code: exit.CodeNotSo, Err: fmt.Errorf("policy %s %s: %s", r.Policy, what, r.Spread.Fault)}
	case !r.OK:
		return &exit.Error{Code: exit.CodeNotSo, Err: fmt.Errorf("policy %s outlasts every outage, but has too little headroom over the longest%s", r.Policy, r.advice())}
	}
	return nil
}

// advice is the window that would do.
func (r *Report) advice() string {
	if r.SmallestUS == 0 {
		return ""
	}
	return fmt.Sprintf("; a max_wait of %s would just do, %s with a headroom of %v", exact(r.SmallestUS), exact(r.SmallestWithHeadroomUS), r.Headroom)
}

// exact is a duration as a policy has it.
func exact(micros int64) string {
	if micros == 0 {
		return "no length"
	}
	return fmt.Sprintf("%gs", float64(micros)/1e6)
}

// Print prints it for people.
func (r *Report) Print(out io.Writer) {
	for _, c := range r.Checks {
		mark := words.Choose(c.Outlasted, "outlasted", words.Choose(c.NotProvable, "NOT provable", "NOT outlasted"))
		fmt.Fprintf(out, "%-13s  %5s  %s, a %s: %s\n", mark, micros(c.LastsUS), safetext.Line(c.Outage), c.Call, c.detail())
	}
	for _, n := range r.NotRepeated {
		fmt.Fprintf(out, "not repeated          a %s: %s\n", n.Call, safetext.Line(n.Message))
	}
	if r.Spread != nil {
		fmt.Fprintln(out, r.Spread.print())
	}
	if r.SmallestUS > 0 && r.OK {
		fmt.Fprintf(out, "the smallest max_wait for these is %s, and %s with a headroom of %v\n", exact(r.SmallestUS), exact(r.SmallestWithHeadroomUS), r.Headroom)
	}
}

// detail is a check in a few words.
func (c *Check) detail() string {
	switch {
	case c.NotProvable:
		return safetext.Line(c.Message)
	case c.Outlasted:
		return fmt.Sprintf("up to %s would be, %.2f times as long; back at most %s after the server", micros(c.OutlastsUS), c.Headroom, micros(c.LagUS))
	}
	return fmt.Sprintf("%s; so may any call that begins in its first %s", safetext.Line(c.Message), micros(c.FailsUS))
}

func micros(us int64) string { return words.Seconds(time.Duration(us) * time.Microsecond) }

// WriteJUnit writes it as CI systems read it. The XML is put together here:
// encoding/xml's own way to write it would make the tool 0.06 MB larger.
func (r *Report) WriteJUnit(path string) error {
	var tests bytes.Buffer
	failures := 0
	for _, c := range r.Checks {
		fmt.Fprintf(&tests, "  <testcase classname=\"%s\" name=\"%s\">\n", escaped("outlast."+r.Policy), escaped(c.Outage+", a "+c.Call))
		if c.Fault != "" {
			failures++
			fmt.Fprintf(&tests, "    <failure message=\"%s\"></failure>\n", escaped(c.Fault+r.advice()))
		}
		fmt.Fprintf(&tests, "    <system-out>lasts %s, outlasts %s, headroom %.2f</system-out>\n  </testcase>\n", exact(c.LastsUS), exact(c.OutlastsUS), c.Headroom)
	}
	count := len(r.Checks)
	if s := r.Spread; s != nil {
		count++
		fmt.Fprintf(&tests, "  <testcase classname=\"%s\" name=\"the spread of %s\">\n", escaped("outlast."+r.Policy), words.Count(s.Callers, "caller"))
		if s.Fault != "" {
			failures++
			fmt.Fprintf(&tests, "    <failure message=\"%s\"></failure>\n", escaped(s.Fault))
		}
		fmt.Fprintf(&tests, "    <system-out>%s</system-out>\n  </testcase>\n", escaped(s.print()))
	}
	text := fmt.Sprintf("%s<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\">\n%s</testsuite>\n",
		xml.Header, escaped("outlast verify "+r.Policy), count, failures, tests.Bytes())
	return os.WriteFile(path, []byte(text), 0o644)
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}
