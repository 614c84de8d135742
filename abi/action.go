package abi

import "outlast/abi/strictjson"

// ActionType is what the policy wants next. A host that meets one it does not
// know stops.
type ActionType string

// The actions.
const (
	Retry ActionType = "retry"
	Stop  ActionType = "stop"
)

// Wake says what may cut a wait short.
type Wake struct {
	By      Readiness // the least readiness that may
	AfterUS int64     // not before so much of the wait has passed
}

// Action is the policy's answer to an event.
type Action struct {
	Type        ActionType
	Kind        string // of the failure that led here
	Budget      string // that a retry counts on
	Attempt     int64  // the number of the attempt that follows; the first is 1
	DelayUS     int64  // to wait before it
	RemainingUS *int64 // of the budget's window, if it has one, before that wait
	Repair      bool   // repair instead of an attempt, and report repaired
	RepairForce bool   // with force
	Wake        *Wake  // nil: the wait is never cut short
	Why         *Why   // if the request asked to explain
	Outcome     *Outcome
	State       string // in run only, so that a host can go on if the instance dies
}

// Why says how a result was recognised.
type Why struct {
	Rule    string
	Matched []Matched
}

// Matched is one test of the rule that held.
type Matched struct {
	In   string // such as "cause 1", "message" or "exit code"
	Text string // the words or the value that matched
}

// OutcomeType is how a call ended.
type OutcomeType string

// The outcomes.
const (
	OutcomeOK                 OutcomeType = "ok"
	OutcomeFailed             OutcomeType = "failed"
	OutcomeExhausted          OutcomeType = "exhausted"
	OutcomeConflict           OutcomeType = "conflict"
	OutcomePreconditionFailed OutcomeType = "precondition_failed"
	OutcomeIndeterminate      OutcomeType = "indeterminate"
	OutcomeCancelled          OutcomeType = "cancelled"
)

// Effects says whether a write that did not succeed may have been applied.
type Effects string

// The effects. A read has none.
const (
	EffectsNone    Effects = "none"
	EffectsUnknown Effects = "unknown"
)

// Reasons for an outcome, beyond its kind.
const (
	ReasonWindow       = "window"             // the budget's max_wait was spent
	ReasonAttempts     = "attempts"           // the budget's attempts were spent
	ReasonCall         = "call"               // the call's own budget was spent
	ReasonWindows      = "windows"            // the call would have needed one window more
	ReasonBroken       = "broken_connections" // too many connections broke
	ReasonRetryAfter   = "retry_after"        // the server asked for a longer wait than is allowed
	ReasonStreamed     = "streamed"           // the output had reached the user
	ReasonRepairFailed = "repair_failed"
	ReasonMaxAttempts  = "max_attempts" // MaxAttempts were made
)

// Outcome is how a call ended, and what led there. Times are microseconds.
type Outcome struct {
	Type           OutcomeType
	Kind           string // of the last failure
	Effects        Effects
	Reason         string
	Budget         string // that was spent
	BudgetAttempts int64  // attempts that counted on it
	BudgetSpentUS  int64  // since its window opened
	Attempts       int64  // in all
	ElapsedUS      int64  // since the call started
	RetryAfterUS   *int64 // what the server asked for, if that ended the call
	Message        string // the outcome in a sentence, never quoting the attempt
	Remedy         string // what a person can do about it
	LastError      string // what the last attempt said, at most MaxErrorBytes of it
	History        []HistoryEntry
}

// HistoryEntry is one attempt; the history has the first and last HistoryEnds.
type HistoryEntry struct {
	Attempt int64
	AtUS    int64 // when its end was seen, since the call started
	Kind    string
}

func (a *Action) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("type", string(a.Type))
	w.StringMember("kind", a.Kind)
	w.StringMember("budget", a.Budget)
	if a.Type == Retry {
		w.IntMember("attempt", a.Attempt)
		w.Name("delay_us")
		w.Int(a.DelayUS)
	}
	writeOptional(w, "remaining_us", a.RemainingUS)
	w.TrueMember("repair", a.Repair)
	w.TrueMember("repair_force", a.RepairForce)
	if a.Wake != nil {
		w.Name("wake")
		w.Open('{')
		w.StringMember("by", string(a.Wake.By))
		w.IntMember("after_us", a.Wake.AfterUS)
		w.Close('}')
	}
	if a.Why != nil {
		w.Name("why")
		a.Why.write(w)
	}
	if a.Outcome != nil {
		w.Name("outcome")
		a.Outcome.write(w)
	}
	w.StringMember("state", a.State)
	w.Close('}')
}

func (y *Why) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("rule", y.Rule)
	w.Name("matched")
	w.Open('[')
	for _, m := range y.Matched {
		w.Open('{')
		w.StringMember("in", m.In)
		w.StringMember("text", m.Text)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

func (o *Outcome) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("type", string(o.Type))
	w.StringMember("kind", o.Kind)
	w.StringMember("effects", string(o.Effects))
	w.StringMember("reason", o.Reason)
	w.StringMember("budget", o.Budget)
	w.IntMember("budget_attempts", o.BudgetAttempts)
	w.IntMember("budget_spent_us", o.BudgetSpentUS)
	w.Name("attempts")
	w.Int(o.Attempts)
	w.Name("elapsed_us")
	w.Int(o.ElapsedUS)
	writeOptional(w, "retry_after_us", o.RetryAfterUS)
	w.StringMember("message", o.Message)
	w.StringMember("remedy", o.Remedy)
	w.StringMember("last_error", o.LastError)
	w.Name("history")
	w.Open('[')
	for _, h := range o.History {
		w.Open('{')
		w.IntMember("attempt", h.Attempt)
		w.Name("at_us")
		w.Int(h.AtUS)
		w.StringMember("kind", h.Kind)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

// Encode is the action as JSON, as the host functions get it.
func (a *Action) Encode() []byte {
	var w strictjson.Writer
	a.write(&w)
	return w.Bytes
}

// Encode is the outcome as JSON.
func (o *Outcome) Encode() []byte {
	var w strictjson.Writer
	o.write(&w)
	return w.Bytes
}
