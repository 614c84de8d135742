package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"outlast/cmd/outlast/internal/aside"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/host"
)

// line is an event as the file has it. Times are microseconds.
type line struct {
	Time           string `json:"time"`
	Run            string `json:"run"`
	Event          string `json:"event"`
	Label          string `json:"label,omitempty"`
	Command        string `json:"command,omitempty"`
	Policy         string `json:"policy,omitempty"`
	PolicyDigest   string `json:"policy_digest,omitempty"`
	Serial         int64  `json:"serial,omitempty"`
	Source         string `json:"source,omitempty"`
	Since          string `json:"since,omitempty"`
	Expires        string `json:"expires,omitempty"`
	PluginDigest   string `json:"plugin_digest,omitempty"`
	Read           *bool  `json:"read,omitempty"`
	Remote         *bool  `json:"remote,omitempty"`
	Attempt        int64  `json:"attempt,omitempty"`
	OK             *bool  `json:"ok,omitempty"`
	ExitCode       *int64 `json:"exit_code,omitempty"`
	Signal         string `json:"signal,omitempty"`
	TimedOut       bool   `json:"timed_out,omitempty"`
	Streamed       bool   `json:"streamed,omitempty"`
	Kind           string `json:"kind,omitempty"`
	Budget         string `json:"budget,omitempty"`
	DelayUS        *int64 `json:"delay_us,omitempty"`
	RemainingUS    *int64 `json:"remaining_us,omitempty"`
	Watched        string `json:"watched,omitempty"`
	Again          bool   `json:"again,omitempty"`
	By             string `json:"by,omitempty"`
	NotReady       bool   `json:"not_ready,omitempty"`
	Force          bool   `json:"force,omitempty"`
	How            string `json:"how,omitempty"`
	Why            string `json:"why,omitempty"`
	TookUS         *int64 `json:"took_us,omitempty"`
	Error          string `json:"error,omitempty"`
	Outcome        string `json:"outcome,omitempty"`
	Effects        string `json:"effects,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Attempts       int64  `json:"attempts,omitempty"`
	BudgetAttempts int64  `json:"budget_attempts,omitempty"`
	ElapsedUS      *int64 `json:"elapsed_us,omitempty"`
}

func (r *Recorder) startedLine() line {
	o := &r.options
	return line{
		Event: "started", Label: safetext.Line(o.Call.Label), Command: safetext.Line(o.Command),
		Policy: o.Policy.Name(), PolicyDigest: o.Policy.Digest(), PluginDigest: o.PluginDigest,
		Read: &o.Call.Read, Remote: &o.Call.Remote,
	}
}

func describe(e host.Event) line {
	switch e := e.(type) {
	case host.AttemptEnded:
		r := &e.Result
		return line{
			Event: "attempt_ended", Attempt: e.Attempt, OK: &e.OK, ExitCode: r.ExitCode, Signal: r.Signal,
			TimedOut: r.TimedOut, Streamed: r.Streamed, TookUS: took(r.StartedUS, r.EndedUS),
		}
	case host.PolicyInForce:
		return inForce(&e)
	case host.Waiting:
		l := line{
			Event: "waiting", Kind: e.Kind, Budget: e.Budget, Attempt: e.Attempt, DelayUS: wire(e.Delay.Microseconds()),
			Watched: string(e.Watched), Again: e.Again,
		}
		if e.Remaining != nil {
			l.RemainingUS = wire(e.Remaining.Microseconds())
		}
		return l
	case host.Woken:
		return line{Event: "woken", By: string(e.By)}
	case host.LeftOut:
		return line{Event: "left_out", NotReady: e.NotReady}
	case host.Unwatched:
		return line{Event: "unwatched", Why: safetext.Line(e.Why)}
	case host.Repairing:
		return line{Event: "repairing", Kind: e.Kind, Force: e.Force}
	case host.Loaded:
		return line{Event: "plugin_loaded", How: e.How, Why: safetext.Line(e.Why), TookUS: wire(e.Took.Microseconds())}
	case host.InstanceReplaced:
		return line{Event: "instance_replaced", Error: safetext.Error(e.Err)}
	case host.Stopped:
		o := &e.Outcome
		l := line{
			Event: "stopped", Outcome: string(o.Type), Kind: o.Kind, Effects: string(o.Effects), Reason: o.Reason,
			Budget: o.Budget, Attempts: o.Attempts, BudgetAttempts: o.BudgetAttempts, ElapsedUS: &o.ElapsedUS,
		}
		return l
	}
	return line{Event: "unknown"}
}

func inForce(e *host.PolicyInForce) line {
	l := line{Event: "policy_in_force", Policy: e.Policy.Name(), PolicyDigest: e.Policy.Digest()}
	if r := e.Policy.Release(); r != nil {
		l.Serial, l.Source, l.Since = r.Serial, safetext.Line(r.Source), r.Since.Format(time.RFC3339)
		if !r.Expires.IsZero() {
			l.Expires = r.Expires.Format(time.RFC3339)
		}
	}
	if e.Why != nil {
		l.Why = safetext.Line(e.Why.Error())
	}
	return l
}

func took(started, ended *int64) *int64 {
	if started == nil || ended == nil {
		return nil
	}
	return wire(max(0, *ended-*started))
}

// eventFile is a file that lines are appended to, by several processes maybe.
type eventFile struct {
	file *os.File
	out  *aside.Writer
	torn bool // it ends in half a line, which a full disk or a crash has left
}

// openEvents waits neither for a pipe's reader nor for a disk that hangs.
func openEvents(path string) (*eventFile, error) {
	return aside.Do(aside.AtExit, func() (*eventFile, error) { return opened(path) })
}

func opened(path string) (*eventFile, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonBlocking, 0o600)
	if noReader(err) {
		return nil, fmt.Errorf("%s is a pipe or socket that nobody reads", path)
	}
	if err != nil {
		return nil, err
	}
	return &eventFile{file: file, out: aside.New(file, nil), torn: isTorn(path)}, nil
}

// settling is how long half a line is given to become a whole one, where another
// process is just writing it (a choice: a line is written in microseconds).
const settling = 50 * time.Millisecond

// isTorn says whether the last line of a regular file has no end, and gets none.
func isTorn(path string) bool {
	if !endsInHalf(path) {
		return false
	}
	time.Sleep(settling)
	return endsInHalf(path)
}

func endsInHalf(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// append writes the line with one call, so that those of other processes stay
// whole: on a local disk in any length, in a pipe up to 4,096 bytes, which the
// bounds of its parts keep it under.
func (f *eventFile) append(l line) error {
	var b bytes.Buffer
	if f.torn {
		b.WriteByte('\n')
		f.torn = false
	}
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(l); err != nil {
		return err
	}
	_, err := f.out.Write(b.Bytes())
	return err
}

// close waits a little for what is not written yet, and says what was not.
func (f *eventFile) close() error {
	lost, err := f.out.Flush(aside.AtExit)
	f.file.Close()
	if lost > 0 && err == nil {
		err = fmt.Errorf("%d of what was to be written to %s are lost, since nobody took them", lost, f.file.Name())
	}
	return err
}
