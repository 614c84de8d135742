package main

import (
	"encoding/json"
	"os"
	"time"

	"outlast/host"
)

// eventLog appends events to a file, one JSON object a line. A line is written
// whole with one call, so that processes may share the file.
type eventLog struct {
	file *os.File
}

// openEventLog opens the file; with path "" nothing is logged.
func openEventLog(path string) (*eventLog, error) {
	if path == "" {
		return &eventLog{}, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return &eventLog{file}, err
}

func (l *eventLog) close() {
	if l != nil && l.file != nil {
		l.file.Close()
	}
}

// eventLine is an event as the file has it. Times are microseconds. It names
// kinds and codes and never quotes the command.
type eventLine struct {
	Time           string `json:"time"`
	Event          string `json:"event"`
	Attempt        int64  `json:"attempt,omitempty"`
	OK             *bool  `json:"ok,omitempty"`
	ExitCode       *int64 `json:"exit_code,omitempty"`
	Signal         string `json:"signal,omitempty"`
	Kind           string `json:"kind,omitempty"`
	Budget         string `json:"budget,omitempty"`
	DelayUS        int64  `json:"delay_us,omitempty"`
	RemainingUS    *int64 `json:"remaining_us,omitempty"`
	Force          bool   `json:"force,omitempty"`
	How            string `json:"how,omitempty"`
	Why            string `json:"why,omitempty"`
	TookUS         int64  `json:"took_us,omitempty"`
	Error          string `json:"error,omitempty"`
	Outcome        string `json:"outcome,omitempty"`
	Effects        string `json:"effects,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Attempts       int64  `json:"attempts,omitempty"`
	BudgetAttempts int64  `json:"budget_attempts,omitempty"`
	ElapsedUS      int64  `json:"elapsed_us,omitempty"`
}

func (l *eventLog) write(e host.Event) {
	if l.file == nil {
		return
	}
	line := describeEvent(e)
	line.Time = time.Now().UTC().Format(time.RFC3339Nano)
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // its fields can all be written
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		say("--events: %v; no more events are written", err)
		l.file.Close()
		l.file = nil
	}
}

func describeEvent(e host.Event) eventLine {
	switch e := e.(type) {
	case host.AttemptEnded:
		return eventLine{Event: "attempt_ended", Attempt: e.Attempt, OK: &e.OK, ExitCode: e.Result.ExitCode, Signal: e.Result.Signal}
	case host.Waiting:
		line := eventLine{Event: "waiting", Kind: e.Kind, Budget: e.Budget, Attempt: e.Attempt, DelayUS: e.Delay.Microseconds()}
		if e.Remaining != nil {
			left := e.Remaining.Microseconds()
			line.RemainingUS = &left
		}
		return line
	case host.Repairing:
		return eventLine{Event: "repairing", Kind: e.Kind, Force: e.Force}
	case host.Loaded:
		return eventLine{Event: "plugin_loaded", How: e.How, Why: e.Why, TookUS: e.Took.Microseconds()}
	case host.InstanceReplaced:
		return eventLine{Event: "instance_replaced", Error: e.Err.Error()}
	case host.Stopped:
		o := e.Outcome
		return eventLine{
			Event: "stopped", Outcome: string(o.Type), Kind: o.Kind, Effects: string(o.Effects), Reason: o.Reason,
			Budget: o.Budget, Attempts: o.Attempts, BudgetAttempts: o.BudgetAttempts, ElapsedUS: o.ElapsedUS,
		}
	}
	return eventLine{Event: "unknown"}
}
