package policy

import (
	"cmp"

	"outlast/abi"
	"outlast/abi/fields"
)

// Budget bounds the retries of the rules that count on it: by a window of time
// from the first failure seen, or by a number of attempts.
type Budget struct {
	Name       string
	MaxWait    int64 // the window; 0: bounded by Attempts
	Attempts   int64 // with the first failure's; 0: bounded by MaxWait
	Windows    int64 // how many a call may open; 0: one, which never closes
	Broken     int64 // broken connections that a call may retry; -1: any number
	Backoff    Backoff
	CallBudget CallBudget
	RetryAfter *RetryAfter // nil: not heard
	Wake       *WakeRule   // nil: its waits are never cut short
}

// maxCount bounds what a budget counts: a call makes no more attempts.
const maxCount = abi.MaxAttempts

// Fields implements fields.Message.
func (b *Budget) Fields(f *fields.List) {
	f.Add("max_wait", (*durationForm)(&b.MaxWait)).Says("the window, from the moment its first failure is seen")
	f.Int("attempts", &b.Attempts, 1, maxCount).Says("all attempts that count on it, the first failure's included")
	f.Int("windows", &b.Windows, 1, maxCount).Says("how many windows a call may open. Each is closed by a result that shows the server itself (a rule's `server`); the failure that closed it, if it counts here, opens the next. Of `max_wait` only").Default("one, which never closes")
	f.Int("broken_connections", &b.Broken, 0, maxCount).Missing(-1).Says("how many results of rules with `server: broken` are retried in a call. Of `max_wait` only").Default("any number")
	f.Message("backoff", &b.Backoff).Required()
	f.Word("call_budget", (*string)(&b.CallBudget), callBudgets).Always(true).Says("how it meets the call's own budget. `clamp`: the last delay is cut to end with it. `ignore`: not at all. `stop_above`: stop if a delay is longer than what is left. `stop_at`: or as long").Default("`clamp`")
	fields.Optional(f, "retry_after", &b.RetryAfter).Says("a server's Retry-After is heard").Default("it is not")
	fields.Optional(f, "wake", &b.Wake).Says("what may cut its waits short. Of `max_wait` only").Default("nothing")
}

// Check implements fields.Checker.
func (b *Budget) Check(c *fields.Checked) {
	if c.Has("max_wait") == c.Has("attempts") {
		c.Fault("", "expected either max_wait or attempts: one limit decides")
	}
	if c.Has("max_wait") {
		return
	}
	for _, name := range []string{"windows", "broken_connections", "wake"} {
		if c.Has(name) {
			c.Fault(name, notKnown)
		}
	}
}

// budgetsForm is the form of budgets: an object of them by name.
type budgetsForm []Budget

func (l *budgetsForm) Read(r *fields.Reader) {
	n, _ := r.Members(func(name string) {
		if len(*l) > maxBudgets { // one too many shows that there are
			r.In.Skip()
			return
		}
		if !validName(name) {
			r.Fault(aName)
		}
		b := Budget{Name: name}
		r.Message(&b)
		*l = append(*l, b)
	})
	if n > maxBudgets {
		r.Fault("has more than 12 budgets")
	}
}

func (l *budgetsForm) Write(w *fields.Writer) {
	w.Open('{')
	for i := range *l {
		w.Name((*l)[i].Name)
		w.Message(&(*l)[i])
	}
	w.Close('}')
}

func (l *budgetsForm) IsDefault() bool { return len(*l) == 0 }
func (l *budgetsForm) Clear()          { *l = nil }

func (l *budgetsForm) Describe(a *fields.About) {
	a.Kind, a.Of, a.High = "named", &Budget{}, maxBudgets
}

// CallBudget is how a budget meets the call's own total budget.
type CallBudget string

// The ways to meet the call's budget.
const (
	CallClamp     CallBudget = "clamp"      // the last delay is cut so that it ends with the call
	CallIgnore    CallBudget = "ignore"     // it does not count here
	CallStopAbove CallBudget = "stop_above" // stop when the delay is longer than what is left
	CallStopAt    CallBudget = "stop_at"    // stop when it is as long or longer
)

var callBudgets = []string{string(CallClamp), string(CallIgnore), string(CallStopAbove), string(CallStopAt)}

// RetryAfter says how far a server's Retry-After is heard.
type RetryAfter struct {
	Max    int64 // a longer one stops the call; 0: any is obeyed
	Jitter int64 // ppm, added on top: never earlier than asked
	Floor  bool  // never earlier than the backoff either
}

var floorWords = []string{"none", "backoff"}

// Fields implements fields.Message.
func (a *RetryAfter) Fields(f *fields.List) {
	f.Add("max", (*durationForm)(&a.Max)).Says("a longer one ends the call").Default("any is obeyed")
	f.Add("jitter", (*shareForm)(&a.Jitter)).Always(true).Says("on top of it, so that it is never earlier than asked").Default("0")
	f.Either("floor", &a.Floor, floorWords).Says("`backoff`: what the schedule has is waited at least, so that 0 is not \"at once\"").Default("`none`").Since("1.2")
}

// WakeRule says what may cut a budget's waits short.
type WakeRule struct {
	Reads, Writes abi.Readiness // "" : nothing
	Spread        int64         // woken callers start within so long, at random
	Growth        int64         // ppm, of the spread with each vain wake; 0: it stays as it is
	SpreadCap     int64         // the widest that it grows; 0: the backoff's cap
	Late          int64         // a window older than this spreads as after a vain wake; 0: none does
	HoldOff       int64         // after a vain wake; doubled after each further one
	MaxVain       int64         // vain wakes of a window, after which it only sleeps
}

// wakesWrites are the words for what wakes a write: a mere connection does not.
var wakesWrites = []string{"", string(abi.Ready)}

// Fields implements fields.Message.
func (w *WakeRule) Fields(f *fields.List) {
	f.Word("reads", (*string)(&w.Reads), abi.AllReadiness).Says("what wakes a read").Default("nothing")
	f.Word("writes", (*string)(&w.Writes), wakesWrites).Says("what wakes a write").Default("nothing")
	f.Add("spread", (*durationForm)(&w.Spread)).Required().Says("woken callers start at random within it, and never past the deadline")
	f.Add("spread_multiplier", (*factorForm)(&w.Growth)).Says("how many times as wide the spread is after each vain wake, so that a server which falls over when all come back is met by fewer each time").Default("1").Since("1.3")
	f.Add("spread_cap", (*durationForm)(&w.SpreadCap)).Says("the widest that it grows; not less than `spread`, and only with `spread_multiplier`").Default("the backoff's cap").Since("1.3")
	f.Add("spread_late", (*durationForm)(&w.Late)).Says("a window that has been open for longer has at least the spread that follows a vain wake: an outage longer than usual may be a server that came back unseen and fell over. Only with `spread_multiplier`").Default("no window has").Since("1.3")
	f.Add("hold_off", (*durationForm)(&w.HoldOff)).Required().Says("after a vain wake, waits of this window are not woken before so much of them has passed; doubled with each further vain wake")
	f.Int("max_vain", &w.MaxVain, 1, maxCount).Required().Says("after so many vain wakes a window is not woken any more")
}

// Check implements fields.Checker.
func (w *WakeRule) Check(c *fields.Checked) {
	for _, name := range []string{"spread_cap", "spread_late"} {
		if c.Has(name) && !c.Has("spread_multiplier") {
			c.Fault(name, "needs a spread_multiplier: without one the spread does not grow")
		}
	}
	if c.Has("spread_cap") && w.SpreadCap < w.Spread {
		c.Fault("spread_cap", "is shorter than the spread")
	}
}

// spread is how far woken callers are apart, given what their window has spent.
func (b *Budget) spread(s *spent) int64 {
	w, vain := b.Wake, s.vain
	if w.Growth == 0 {
		return w.Spread
	}
	if w.Late > 0 && s.time > w.Late {
		vain = max(vain, 1)
	}
	grows := Backoff{Base: w.Spread, Multiplier: w.Growth, Cap: max(w.Spread, cmp.Or(w.SpreadCap, b.Backoff.Cap))}
	return grows.plain(vain + 1)
}
