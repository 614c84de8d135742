// Package policy decides: it recognises how an attempt failed, keeps the
// budgets, and computes the next delay. State and event in, action and state
// out; it has no clock, no sleep, no randomness and no I/O of its own, so it
// gives the same answers natively and as WebAssembly, on every machine.
package policy

import (
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// DocumentVersion is the version of the document's form that this package reads.
const DocumentVersion = 1

// Bounds of a document, all of them choices: far above what a policy needs, and
// low enough that a state always fits into abi.MaxStateBytes.
const (
	maxBudgets = 12
	maxRules   = 200
)

// Document is a policy, parsed and validated. It never changes after Parse, so
// goroutines may share it. Durations are in microseconds; fractions in
// millionths (ppm).
type Document struct {
	Version     int64 // DocumentVersion
	Name        string
	Description string
	Measured    []Measured
	KeepColours bool // texts are looked at with their colour sequences in them
	Account     Account
	Budgets     []Budget
	Rules       []Rule
	Normal      string // the normalised document: every default filled in
	Digest      string // of Normal: 32 hexadecimal digits

	kinds []string // each rule's kind once, in order: what the state counts in
}

// Account is who is believed about a request.
type Account string

// The accounts.
const (
	AccountMembers Account = "members"         // the members of a JSON error object
	AccountOutcome Account = "command_outcome" // what omnigraph says of its own command, read where it stands; a write is believed nothing else
	AccountHost    Account = "host"            // the host, and no text
)

var (
	coloursWords = []string{"removed", "kept"}
	accountWords = []string{string(AccountMembers), string(AccountOutcome), string(AccountHost)}
)

// Fields implements fields.Message. They are written in this order, which is the
// normal form's. A field that came later is left out of it at its default, so
// that documents which do not use it keep their digest; others are Always there.
func (d *Document) Fields(f *fields.List) {
	f.Int("version", &d.Version, DocumentVersion, DocumentVersion).Required().Says("of the document's form")
	f.Add("name", (*nameForm)(&d.Name)).Required()
	f.String("description", &d.Description, 0).Says("for people").Default("`\"\"`")
	fields.Items(f, "measured", &d.Measured).Always(true).Says("the outages that the numbers are sized against").Default("none")
	f.Either("colours", &d.KeepColours, coloursWords).Says("`removed`: texts are looked at without colour sequences (SGR) and without the CR of a terminal's line ends. `kept`: as they are").Default("`removed`")
	f.Word("account", (*string)(&d.Account), accountWords).Says("who is believed about a request. `members`: a JSON error object, on stdout where stderr is blank, or as an HTTP message. `command_outcome`: what omnigraph 0.8 to 0.13 say of their own command is read where it stands, and a write is believed nothing else: see [the program's account](#the-programs-account). `host`: nothing that a program or a server wrote says whether a request was sent, what its effects or its status were; only the host does").Default("`members`").Since("1.2; `host`: 1.3")
	f.Add("budgets", (*budgetsForm)(&d.Budgets)).Required().Says("by name; it may be empty")
	fields.Items(f, "rules", &d.Rules).Required().Between(1, maxRules, "expected from 1 to 200 rules").Says("in order: the first that matches counts. The last has no `when`")
}

// Check implements fields.Checker. It resolves what names something elsewhere in
// the document.
func (d *Document) Check(c *fields.Checked) {
	d.kinds = nil
	for i := range d.Rules {
		d.Rules[i].kind = d.kindIndex(d.Rules[i].Kind)
		d.checkRule(c, strictjson.Index("rules", i), &d.Rules[i])
	}
	if last := len(d.Rules) - 1; last >= 0 && last < maxRules && len(d.Rules[last].When) > 0 {
		c.Fault(strictjson.Index("rules", last)+".when", "the last rule must match everything: leave it out")
	}
}

func (d *Document) checkRule(c *fields.Checked, path string, r *Rule) {
	for i := range r.When {
		if r.When[i].Proof != "" && d.Account != AccountOutcome {
			c.Fault(strictjson.Index(path+".when", i)+".proof", `needs a document with "account": "command_outcome"`)
		}
	}
	for i := range r.Then {
		b, path := &r.Then[i], strictjson.Index(path+".then", i)
		b.Retry = d.budgetIndex(b.Budget)
		if b.Retry < 0 && b.Budget != "" && len(d.Budgets) <= maxBudgets {
			c.Fault(path+".retry", "there is no budget called "+strictjson.Quote(b.Budget))
		}
		if b.Repair != nil && (b.Retry < 0 || d.Budgets[b.Retry].MaxWait > 0) {
			c.Fault(path+".repair", "needs a retry on a budget of attempts, which bounds the repairs")
		}
	}
}

// AsksForFailures says whether a condition asks for what the host saw of its
// requests: the policy is one for functions.
func (d *Document) AsksForFailures() bool {
	for i := range d.Rules {
		for j := range d.Rules[i].When {
			if len(d.Rules[i].When[j].Failures) > 0 {
				return true
			}
		}
	}
	return false
}

// kindIndex is the number of a kind, which is new or known.
func (d *Document) kindIndex(kind string) int {
	for i, k := range d.kinds {
		if k == kind {
			return i
		}
	}
	d.kinds = append(d.kinds, kind)
	return len(d.kinds) - 1
}

// budgetIndex is the number of the budget of a name, -1 where there is none.
func (d *Document) budgetIndex(name string) int {
	for i := range d.Budgets {
		if d.Budgets[i].Name == name {
			return i
		}
	}
	return -1
}

// Measured is an outage that the policy's numbers are sized against.
type Measured struct {
	Name     string
	Duration int64
	Down, Up string // RFC 3339, where it was recorded
	Source   string // where the measurement comes from
}

// Fields implements fields.Message.
func (m *Measured) Fields(f *fields.List) {
	f.String("name", &m.Name, 0).Default("`\"\"`")
	f.Add("duration", (*durationForm)(&m.Duration)).Required()
	f.String("down", &m.Down, 0).Says("when it began").Default("`\"\"`")
	f.String("up", &m.Up, 0).Says("when it ended").Default("`\"\"`")
	f.String("source", &m.Source, 0).Says("where the measurement comes from").Default("`\"\"`")
}
