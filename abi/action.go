package abi

import "outlast/abi/fields"

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

var actionTypes = []string{"", string(Retry), string(Stop)}

// Action is the policy's answer to an event.
type Action struct {
	Type        ActionType
	Kind        string // of the failure that led here
	Budget      string // that a retry counts on
	Attempt     int64  // the number of the attempt that follows; the first is 1
	DelayUS     int64  // to wait before it
	RemainingUS *int64 // of the budget's window, if it has one, or of the call's own budget if that is less, before that wait
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

var outcomeTypes = []string{
	"", string(OutcomeOK), string(OutcomeFailed), string(OutcomeExhausted), string(OutcomeConflict),
	string(OutcomePreconditionFailed), string(OutcomeIndeterminate), string(OutcomeCancelled),
}

// Effects says whether a write that did not succeed may have been applied.
type Effects string

// The effects. A read has none.
const (
	EffectsNone    Effects = "none"
	EffectsUnknown Effects = "unknown"
)

// AllEffects are the words for them, after one for none given.
var AllEffects = []string{"", string(EffectsNone), string(EffectsUnknown)}

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

var reasons = []string{
	"", ReasonWindow, ReasonAttempts, ReasonCall, ReasonWindows, ReasonBroken, ReasonRetryAfter,
	ReasonStreamed, ReasonRepairFailed, ReasonMaxAttempts,
}

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
	RefusedUS      *int64 // the wait that a limit did not allow, if that ended the call
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

// Fields implements fields.Message.
func (a *Action) Fields(f *fields.List) {
	f.Word("type", (*string)(&a.Type), actionTypes).Required().Says("a host that does not know it stops")
	f.String("kind", &a.Kind, 0).Says("of the failure that led here, as the policy names it")
	f.String("budget", &a.Budget, 0).Says("that the retry counts on, or that was spent")
	f.Int("attempt", &a.Attempt, 0, fields.Most).Says("of `retry`: the number of the attempt that follows, from 1")
	f.Int("delay_us", &a.DelayUS, 0, fields.Most).Always(a.Type == Retry).Says("of `retry`: to wait before it, from the event's `now_us` on")
	f.OptionalInt("remaining_us", &a.RemainingUS, 0, fields.Most).Says("what was left of the budget's window before that wait, or of the call's own budget if that counts and is less; missing where there is no window")
	f.Flag("repair", &a.Repair).Says("a repair comes next, not an attempt; report `repaired`")
	f.Flag("repair_force", &a.RepairForce).Says("with force")
	fields.Optional(f, "wake", &a.Wake).Says("what may cut the wait short; without it nothing may")
	fields.Optional(f, "why", &a.Why).Says("if `decide` was asked to explain and a result was looked at")
	fields.Optional(f, "outcome", &a.Outcome).Says("of `stop`, always")
	f.String("state", &a.State, 0).Says("in actions that `run` gives to host functions, from the second attempt on")
}

// Fields implements fields.Message.
func (w *Wake) Fields(f *fields.List) {
	f.Word("by", (*string)(&w.By), AllReadiness).Required().Says("the least readiness that may")
	f.Int("after_us", &w.AfterUS, 0, fields.Most).Says("not before so much of this wait has passed; 0 where it is missing")
}

// Fields implements fields.Message.
func (y *Why) Fields(f *fields.List) {
	f.String("rule", &y.Rule, 0).Required().Says("the kind of the rule that matched")
	fields.Items(f, "matched", &y.Matched).Required().Says("what matched; empty for a rule that matches everything")
}

// Fields implements fields.Message.
func (m *Matched) Fields(f *fields.List) {
	f.String("in", &m.In, 0).Required().Says("where: `message`, `cause 1`, `anywhere`, `shown`, `exit code`, `signal`, `HTTP status`, `code`, `effects`, `sent`, `failure`, `Retry-After`, `attempt`, and `call` for what the call says of itself")
	f.String("text", &m.Text, 0).Required().Says("what matched")
}

// Fields implements fields.Message.
func (o *Outcome) Fields(f *fields.List) {
	f.Word("type", (*string)(&o.Type), outcomeTypes).Required().Says("see below")
	f.String("kind", &o.Kind, 0).Says("of the last failure; missing if there was none")
	f.Word("effects", (*string)(&o.Effects), AllEffects).Says("of a write that did not succeed: whether it may have been applied. `none` for reads, and says nothing with `ok`")
	f.Word("reason", &o.Reason, reasons).Says("see below: beyond the kind")
	f.String("budget", &o.Budget, 0).Says("that was spent")
	f.Int("budget_attempts", &o.BudgetAttempts, 0, fields.Most).Says("attempts that counted on it; 0 where it is missing")
	f.Int("budget_spent_us", &o.BudgetSpentUS, 0, fields.Most).Says("since its window opened; 0 where it is missing")
	f.Int("attempts", &o.Attempts, 0, fields.Most).Required().Says("in all")
	f.Int("elapsed_us", &o.ElapsedUS, 0, fields.Most).Required().Says("since the call started")
	f.OptionalInt("retry_after_us", &o.RetryAfterUS, 0, fields.Most).Says("what the server asked for, if that ended the call")
	f.OptionalInt("refused_us", &o.RefusedUS, 0, fields.Most).Says("the wait that would have come next, if the server's `Retry-After` or the call's own budget did not allow it").Since("1.3")
	f.String("message", &o.Message, 0).Says("the outcome in a sentence, which never quotes what an attempt said")
	f.String("remedy", &o.Remedy, 0).Says("what a person can do about it")
	f.String("last_error", &o.LastError, 0).Says("what the last attempt or repair said, without colours; missing if the last event had no result (a host that wants it after a cancelled wait quotes the last that it saw)")
	fields.Items(f, "history", &o.History).Required().Says("the failed attempts, at most the first 4 and the last 4")
}

// Fields implements fields.Message.
func (h *HistoryEntry) Fields(f *fields.List) {
	f.Int("attempt", &h.Attempt, 0, fields.Most).Says("its number, from 1")
	f.Int("at_us", &h.AtUS, 0, fields.Most).Required().Says("when its end was seen, since the call started")
	f.String("kind", &h.Kind, 0)
}

// Encode is the action as JSON, as the host functions get it.
func (a *Action) Encode() []byte { return fields.Write(a) }

// Encode is the outcome as JSON.
func (o *Outcome) Encode() []byte { return fields.Write(o) }
