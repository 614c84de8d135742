// Package record keeps what became of a call, for programs: a log of events
// that many processes append to, and a report of one call. Both name kinds and
// codes, and quote neither the command's arguments nor what it printed. Their
// JSON Schemas are abi/schema's log-event.json and report.json.
package record

import (
	"fmt"
	"os"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/host"
	"outlast/internal/progress"
)

// Options say what is recorded and where.
type Options struct {
	Events string // the file that event lines are appended to; "": none
	Report string // the file that the report replaces; "": none

	Call         host.Call
	Policy       *host.Policy
	PluginDigest string // "sha256:…"; "": not told
	Command      string // the command's base name

	// Progress is the call's, which takes each event before the recorder does.
	// nil: one without events.
	Progress *progress.State

	// Tell is told, once for each file, what cannot be written. nil: nobody is.
	Tell func(format string, args ...any)

	// Now is the call's clock. nil: host.SystemClock.
	Now func() time.Duration
}

// Recorder records one call. It is for one goroutine at a time, as observers are.
type Recorder struct {
	options Options
	run     string
	events  *eventFile  // nil: none, or given up
	report  *reportFile // nil: none
	began   time.Time   // when the call did, of the day
	over    bool
}

// Open opens the files, or says what is wrong with them: outlast's own part
// must not fail once the command runs. Without files it records nothing,
// and costs nothing.
func Open(o Options) (*Recorder, error) {
	if o.Now == nil {
		o.Now = host.SystemClock().Now
	}
	if o.Progress == nil {
		o.Progress = &progress.State{}
	}
	r := &Recorder{options: o}
	if o.Events == "" && o.Report == "" {
		return r, nil
	}
	var err error
	if o.Report != "" {
		if r.report, err = openReport(o.Report); err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
	}
	if o.Events != "" {
		if r.events, err = openEvents(o.Events); err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
	}
	r.began = time.Now()
	if o.Call.Started > 0 {
		r.began = r.began.Add(o.Call.Started - o.Now())
	}
	r.run = runID(r.began)
	r.write(r.startedLine())
	return r, nil
}

// runID tells processes apart, on one machine and over time: the process id and
// when the call began, in seconds since 1970.
func runID(now time.Time) string {
	return fmt.Sprintf("%d-%d.%06d", os.Getpid(), now.Unix(), now.Nanosecond()/1000)
}

// Observe is the call's host.Observer.
func (r *Recorder) Observe(e host.Event) {
	if !r.over {
		r.write(describe(e))
	}
}

// End is how a call ended for the user.
type End struct {
	Outcome  *abi.Outcome // nil: the call came to none
	Err      error        // why, then
	ExitCode int          // of this process
}

// Finish writes the last event and the report, and closes the files. It must be
// called however the call ends; a second time it does nothing.
func (r *Recorder) Finish(end End) {
	if r.over {
		return
	}
	r.over = true
	if r.events == nil && r.report == nil {
		return
	}
	line := line{Event: "finished", ExitCode: wire(int64(end.ExitCode))}
	if end.Err != nil {
		line.Error = safetext.Error(end.Err)
	}
	r.write(line)
	if r.events != nil {
		if err := r.events.close(); err != nil {
			r.tell("--events: %v", err)
		}
	}
	if r.report != nil {
		if err := r.report.write(r.describe(&end)); err != nil {
			r.tell("--report: %v", err)
		}
	}
}

// write appends a line. The call matters more than its log: after the first
// failure nothing more is written.
func (r *Recorder) write(l line) {
	if r.events == nil {
		return
	}
	l.Time, l.Run = time.Now().UTC().Format(time.RFC3339Nano), r.run
	if err := r.events.append(l); err != nil {
		r.tell("--events: %v; no more events are written", err)
		_ = r.events.close() // it has been told
		r.events = nil
	}
}

func (r *Recorder) tell(format string, args ...any) {
	if r.options.Tell != nil {
		r.options.Tell(format, args...)
	}
}

func wire[T any](v T) *T { return &v }
