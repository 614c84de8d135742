package policy

import (
	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// Contact is what a result shows of the server.
type Contact string

// The contacts. Answered and broken show that the server was reached, which
// ends the outage and so closes the windows of budgets that count them.
const (
	Unseen   Contact = "unseen"
	Answered Contact = "answered"
	Broken   Contact = "broken" // the connection stood and broke
)

var contacts = []string{string(Unseen), string(Answered), string(Broken)}

// Rule recognises a kind of failure and says what then happens.
type Rule struct {
	Kind   string
	When   []Condition // alternatives; none: always
	Server Contact
	Then   []Branch // the first whose If holds

	kind int // index in Document.kinds
}

// Fields implements fields.Message.
func (r *Rule) Fields(f *fields.List) {
	f.Add("kind", (*nameForm)(&r.Kind)).Required().Says("what such a failure is called")
	f.Word("server", (*string)(&r.Server), contacts).Always(true).Says("what the result shows of the server. `answered` (an answer of its own) and `broken` (the connection stood and broke) end an outage: they close the windows of budgets that have `windows`").Default("`unseen`")
	fields.Items(f, "when", &r.When).Between(1, 0, "expected an array of at least one condition").Says("conditions, of which one must hold").Default("the rule matches everything")
	fields.Items(f, "then", &r.Then).Required().Between(1, 0, "expected at least one branch").Says("branches: the first whose `if` holds. The last has no `if`, and no repair `once`")
}

// Check implements fields.Checker.
func (r *Rule) Check(c *fields.Checked) {
	if len(r.Then) == 0 {
		return
	}
	if last := r.Then[len(r.Then)-1]; last.If != (If{}) || last.Repair != nil && last.Repair.Once {
		c.Fault(strictjson.Index("then", len(r.Then)-1), "the last branch must hold for every call: no if, no repair once")
	}
}

// Condition holds if each of its parts that is given holds.
type Condition struct {
	Transport  string // process or http; "": either
	ExitCodes  []int64
	Signals    []string // "any": whatever signal
	Statuses   []int64  // 0: no status
	Form       Form     // that the program's words have; "": any
	Codes      []string // that an object has; "none": it has none, or is no object
	Details    *bool    // the object has members beside those of every failure
	TimedOut   bool
	Write      *bool
	Sent       []abi.Sent  // what the result says of it
	Failures   []string    // what the host saw of its request; "none": it says nothing
	Only       bool        // the attempt made this one request
	Hinted     bool        // there is a Retry-After
	Effects    abi.Effects // what the result says of them, as a parsed field
	CauseCount int64       // of the report; 0: any
	Text       []TextTest
	Proof      Proof
}

var (
	transports = []string{"", "process", "http"}
	forms      = []string{"", string(FormReport), string(FormLines), string(FormObject)}
	proofs     = []string{"", string(ProofRefused), string(ProofExit)}

	failureWords = append([]string{noFailure}, abi.AllFailures[1:]...)
)

// noFailure is a result whose host says of no request how it failed.
const noFailure = "none"

// Fields implements fields.Message.
func (d *Condition) Fields(f *fields.List) {
	f.Word("transport", &d.Transport, transports).Says("of a process's result (it has an exit code or a signal), or not")
	f.Add("exit_codes", (*codesForm)(&d.ExitCodes))
	f.Add("signals", (*wordsForm)(&d.Signals)).Says("names; `any` is every one")
	f.Add("http_statuses", (*codesForm)(&d.Statuses)).Says("0: there is none. A program may say it too, as below")
	f.Word("form", (*string)(&d.Form), forms).Says("how the program's words come: with numbered causes, as another text on stderr, or as JSON on stdout or in an HTTP message").Since("1.2")
	f.Add("codes", (*wordsForm)(&d.Codes)).Says("the `code` of the JSON object; `none`: there is none").Since("1.2")
	f.OptionalFlag("details", &d.Details).Says("the object has members beside `error`, `code`, `http_status`, `effects`, `request_dispatched`, `command_outcome` and `retry_after`; of [the program's account](#the-programs-account) too: its `action` is `refresh` or `recover`, which it advises for such members only").Since("1.2")
	f.Flag("timed_out", &d.TimedOut).Says("the host ended the attempt; only true")
	f.OptionalFlag("write", &d.Write).Says("of the call")
	f.Add("sent", choicesForm[abi.Sent]{&d.Sent, abi.AllSent}).Says("what the host and the program say of the request")
	f.Add("failures", choicesForm[string]{&d.Failures, failureWords}).Says("what the host saw of its request; `none`: it says nothing").Since("1.3")
	f.Flag("only_request", &d.Only).Says("the attempt made this one request and no other; only true").Since("1.3")
	f.Flag("retry_after", &d.Hinted).Says("there is a Retry-After; only true").Since("1.3")
	f.Word("effects", (*string)(&d.Effects), abi.AllEffects).Says("what the program says of them")
	f.Int("cause_count", &d.CauseCount, 1, maxCauses).Says("how many causes the report has")
	fields.Items(f, "text", &d.Text).Between(1, 0, "expected at least one test").Says("tests, which must all hold")
	f.Word("proof", (*string)(&d.Proof), proofs).Says("that nothing was applied, though the program does not say so. `refused`: the answer to a remote call's one request, of an account that leaves the effects unknown; needs `http_statuses`. `exit_code`: of a program without an account; needs `exit_codes`. Both need the document's `account`: see [the program's account](#the-programs-account)").Since("1.2")
}

// Check implements fields.Checker.
func (d *Condition) Check(c *fields.Checked) {
	if c.Empty() {
		c.Fault("", "an empty condition would match everything")
	}
	onlyTrue(c, "timed_out", d.TimedOut)
	onlyTrue(c, "only_request", d.Only)
	onlyTrue(c, "retry_after", d.Hinted)
	switch {
	case d.Proof == ProofRefused && len(d.Statuses) == 0:
		c.Fault("proof", "a refusal is known by its http_statuses")
	case d.Proof == ProofExit && len(d.ExitCodes) == 0:
		c.Fault("proof", "needs exit_codes")
	}
}

func onlyTrue(c *fields.Checked, name string, is bool) {
	if c.Has(name) && !is {
		c.Fault(name, "can only be true")
	}
}

// maxCauses bounds the causes of a report that a condition can ask for (a choice).
const maxCauses = 1_000

// Proof is that a condition holds only where nothing of the attempt can have been
// applied, though the program does not say so; "": it is none.
type Proof string

// The proofs.
const (
	// ProofRefused is the server's answer to the one request that a remote call
	// makes, given before any effect. It needs the program's account, which tells
	// the answer from a text that quotes one.
	ProofRefused Proof = "refused"
	// ProofExit is an exit code with which a program that gives no account ends
	// before it does anything.
	ProofExit Proof = "exit_code"
)

// holds says whether the condition may be a proof, before its parts are looked at.
func (p Proof) holds(call *abi.Call, v *view) bool {
	switch p {
	case ProofRefused:
		return call.Remote && v.effects == abi.EffectsUnknown && v.accounts
	case ProofExit:
		return v.effects == ""
	}
	return true
}

// Form is how a program's words on its failure come.
type Form string

// The forms.
const (
	FormReport Form = "report" // numbered causes
	FormLines  Form = "lines"  // any other text on stderr
	FormObject Form = "object" // JSON on stdout, or in an HTTP message
)

// TextTest looks for words in one place. It holds if one of Is, Starts and Any
// does (or all three are empty), and every one of All does, and none of None.
// Words are compared without regard to ASCII case.
type TextTest struct {
	In     Place
	At     int64 // the cause's number, of InCause
	Is     []Marker
	Starts []Marker
	Any    []Marker
	All    []Marker
	None   []Marker
}

// Place is where words are looked for.
type Place string

// The places. Only Anywhere and Shown can meet words that a user or a server
// put there.
const (
	InMessage  Place = "message"  // cause 0, 0.13's first line, a JSON error, an HTTP message
	InCause    Place = "cause"    // cause At of a report
	InAnywhere Place = "anywhere" // all that stderr, the JSON error object or the HTTP message has
	InShown    Place = "shown"    // as anywhere, but of a JSON error object on stdout only its error and code
)

var places = []string{"", string(InMessage), string(InCause), string(InAnywhere), string(InShown)}

// Fields implements fields.Message.
func (t *TextTest) Fields(f *fields.List) {
	f.Word("in", (*string)(&t.In), places).Required().Says("where to look. `message`: cause 0 of a report, the first line, the `error` of a JSON object, or an HTTP message. `cause`: number `at` of a report. `anywhere`: all that stderr, the JSON object or the HTTP message has. `shown`: the same, but of a JSON object on stdout only its `error` and its `code`")
	f.Int("at", &t.At, 0, maxCauses).Always(t.In == InCause).Says("the cause's number; required of `cause`, and of no other")
	f.Add("is", (*markersForm)(&t.Is)).Says("the text is one of these; not of `anywhere` and `shown`")
	f.Add("starts", (*markersForm)(&t.Starts)).Says("it starts with one of these; not of `anywhere` and `shown`")
	f.Add("any", (*markersForm)(&t.Any)).Says("it has one of these")
	f.Add("all", (*markersForm)(&t.All)).Says("it has all of these")
	f.Add("none", (*markersForm)(&t.None)).Says("it has none of these")
}

// Check implements fields.Checker.
func (t *TextTest) Check(c *fields.Checked) {
	switch {
	case t.In == InCause && !c.Has("at"):
		c.Fault("at", "is missing")
	case t.In != InCause && c.Has("at"):
		c.Fault("at", notKnown)
	}
	if !c.Has("is") && !c.Has("starts") && !c.Has("any") && !c.Has("all") && !c.Has("none") {
		c.Fault("", "expected one of is, starts, any, all and none")
	}
	if (t.In == InAnywhere || t.In == InShown) && (len(t.Is) > 0 || len(t.Starts) > 0) {
		c.Fault("", "is and starts need a place: message or cause")
	}
}
