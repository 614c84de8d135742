package policy

import (
	"outlast/abi"
	"outlast/abi/fields"
)

// Branch is one way to go on. Exactly one of Budget and Stop is given.
type Branch struct {
	If     If
	Budget string // to retry on; "": stop
	Retry  int    // its index in Document.Budgets; -1: stop
	Repair *RepairRule
	Stop   *StopRule
}

// Fields implements fields.Message.
func (b *Branch) Fields(f *fields.List) {
	f.Message("if", &b.If).OmitIf(b.If == If{}).Says("what must hold for the call").Default("it always holds")
	f.String("retry", &b.Budget, 0).Says("on this budget")
	fields.Optional(f, "repair", &b.Repair).Says("a repair first. Needs a `retry` on a budget of `attempts`").Default("no repair")
	fields.Optional(f, "stop", &b.Stop).Says("the call ends")
}

// Check implements fields.Checker.
func (b *Branch) Check(c *fields.Checked) {
	if c.Has("retry") == c.Has("stop") {
		c.Fault("", "expected either retry or stop")
	}
	if c.Has("retry") && b.Budget == "" {
		c.Fault("retry", `there is no budget called ""`)
	}
}

// If is what must hold for a call; a nil part is not asked for.
type If struct {
	Remote, Write, SurfaceConflict, ConnectRetry, RefusesBeforeActing *bool
}

// Fields implements fields.Message.
func (i *If) Fields(f *fields.List) {
	f.OptionalFlag("remote", &i.Remote)
	f.OptionalFlag("write", &i.Write)
	f.OptionalFlag("surface_conflict", &i.SurfaceConflict)
	f.OptionalFlag("connect_retry", &i.ConnectRetry)
	f.OptionalFlag("refuses_before_acting", &i.RefusesBeforeActing).Since("1.3")
}

// RepairRule asks for a repair before the retry.
type RepairRule struct {
	Once     bool // a second one is not asked for: the branch is passed over
	Force    bool
	StopFail bool // a repair that fails stops the call
}

var (
	timesWords     = []string{"each", "once"}
	onFailureWords = []string{"continue", "stop"}
)

// Fields implements fields.Message.
func (r *RepairRule) Fields(f *fields.List) {
	f.Either("times", &r.Once, timesWords).Required().Says("`once`: in a call that has had a repair, the branch is passed over")
	f.Flag("force", &r.Force).Says("with force").Default("false")
	f.Either("on_failure", &r.StopFail, onFailureWords).Required().Says("what a repair that fails leads to")
}

// StopRule ends the call.
type StopRule struct {
	Effects abi.Effects     // of a write; a read has none
	Outcome abi.OutcomeType // "": failed, or indeterminate where effects are unknown
	Remedy  string
}

var stopOutcomes = []string{"", string(abi.OutcomeFailed), string(abi.OutcomeConflict), string(abi.OutcomePreconditionFailed), string(abi.OutcomeCancelled)}

// Fields implements fields.Message.
func (s *StopRule) Fields(f *fields.List) {
	f.Word("effects", (*string)(&s.Effects), abi.AllEffects).Required().Says("of a write; a read has none")
	f.Word("outcome", (*string)(&s.Outcome), stopOutcomes).Says("with unknown effects only `cancelled`").Default("`failed`; `indeterminate` where a write's effects are unknown")
	f.String("remedy", &s.Remedy, 0).Says("what a person can do").Default("`\"\"`")
}

// Check implements fields.Checker.
func (s *StopRule) Check(c *fields.Checked) {
	if s.Effects == abi.EffectsUnknown && s.Outcome != "" && s.Outcome != abi.OutcomeCancelled {
		c.Fault("outcome", "unknown effects are the outcome indeterminate")
	}
}
