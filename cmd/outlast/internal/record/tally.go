package record

import (
	"time"

	"outlast/host"
)

// tally is what the events of a call come to. Its times are microseconds.
type tally struct {
	started  time.Duration // of the call, on its clock; 0: with the first attempt
	wall     time.Time     // the same moment of the day
	finished time.Duration
	attempts []attempt
	repairs  int64
	budgets  []budget
	from     *int64 // when the wait began that is not over yet
	on       string // the budget that it counts on
}

// attempt is one attempt as the report has it. Times count from the call's start.
type attempt struct {
	Attempt   int64  `json:"attempt"`
	StartedUS *int64 `json:"started_us,omitempty"`
	EndedUS   int64  `json:"ended_us"`
	OK        bool   `json:"ok"`
	ExitCode  *int64 `json:"exit_code,omitempty"`
	Signal    string `json:"signal,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Streamed  bool   `json:"streamed,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Budget    string `json:"budget,omitempty"`
}

// budget is what a call has spent of one.
type budget struct {
	Name        string `json:"name"`
	MaxWaitUS   int64  `json:"max_wait_us,omitempty"`
	MaxAttempts int64  `json:"max_attempts,omitempty"`
	Attempts    int64  `json:"attempts"` // that failed and count on it
	WaitedUS    int64  `json:"waited_us"`
}

func (t *tally) add(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		t.ended(&e)
	case host.Waiting:
		t.failed(e.Kind, e.Budget)
		if t.from == nil {
			t.from, t.on = wire(e.At.Microseconds()), e.Budget
			if last := len(t.attempts); last > 0 { // the delay counts from its end
				*t.from = min(*t.from, t.attempts[last-1].EndedUS+t.started.Microseconds())
			}
		}
	case host.Repairing:
		t.waited(e.At.Microseconds())
		t.failed(e.Kind, "")
		t.repairs++
	case host.Stopped:
		t.waited(e.At.Microseconds())
		if o := &e.Outcome; o.Kind != "" && len(t.attempts) > 0 && !t.attempts[len(t.attempts)-1].OK {
			t.failed(o.Kind, o.Budget)
		}
	}
}

func (t *tally) ended(e *host.AttemptEnded) {
	r := &e.Result
	if t.started == 0 && r.StartedUS != nil {
		t.started = time.Duration(*r.StartedUS) * time.Microsecond
	}
	a := attempt{
		Attempt: e.Attempt, EndedUS: t.since(e.At.Microseconds()), OK: e.OK, ExitCode: r.ExitCode, Signal: r.Signal,
		TimedOut: r.TimedOut, Streamed: r.Streamed,
	}
	began := e.At.Microseconds()
	if r.StartedUS != nil {
		began = *r.StartedUS
		a.StartedUS = wire(t.since(began))
	}
	t.waited(began)
	t.attempts = append(t.attempts, a)
}

func (t *tally) since(us int64) int64 { return max(0, us-t.started.Microseconds()) }

// failed says what the last attempt's failure was.
func (t *tally) failed(kind, on string) {
	if len(t.attempts) == 0 {
		return
	}
	a := &t.attempts[len(t.attempts)-1]
	if a.Kind == "" && on != "" {
		t.budget(on).Attempts++
	}
	if a.Kind == "" {
		a.Kind, a.Budget = kind, on
	}
}

// waited ends the wait that is under way.
func (t *tally) waited(until int64) {
	if t.from != nil {
		t.budget(t.on).WaitedUS += max(0, until-*t.from)
		t.from = nil
	}
}

func (t *tally) budget(name string) *budget {
	for i := range t.budgets {
		if t.budgets[i].Name == name {
			return &t.budgets[i]
		}
	}
	t.budgets = append(t.budgets, budget{Name: name})
	return &t.budgets[len(t.budgets)-1]
}

func (t *tally) finish(now time.Duration) {
	t.waited(now.Microseconds())
	t.finished = now
}
