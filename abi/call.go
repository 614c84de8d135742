package abi

import "outlast/abi/fields"

// Call says what a call is. It is the same for all of a call's attempts.
type Call struct {
	Label           string // for messages, such as "query"
	Remote          bool   // over the network, to a server that may restart
	Write           bool   // it may change something
	SurfaceConflict bool   // a compare-and-swap: lose a race rather than repeat the write
	ConnectRetry    bool   // wait for a server that is away; true unless said otherwise
	// OneRequest says whether the attempt is known to make one request that can
	// have effects. Where it may make several, what it prints says nothing of the
	// others. nil: not known, and the policy's rules alone decide.
	OneRequest *bool
	Repeatable bool // a write that may be applied again: chosen for as a read, told of as a write
	// RefusesBeforeActing is the caller's word that this server answers 409, 410,
	// 412, 422, 429 and 503 before it does anything.
	RefusesBeforeActing bool
	BudgetUS            int64  // the call's total budget in microseconds; 0: none
	StartedUS           *int64 // when the call began, before any wait for a lock; nil: with its first event
	Seed                *int64 // of the jitter, from 0 to 2^53-1; nil: events bring their own random
}

// unsafe is why a call has to say what it is.
const unsafe = "a policy cannot guess what is safe"

// Fields implements fields.Message.
func (c *Call) Fields(f *fields.List) {
	f.String("label", &c.Label, MaxLabelBytes).Says("for people, such as `query`").Default("`\"\"`")
	f.Flag("remote", &c.Remote).Required().Because(unsafe).Says("it goes over the network, to a server that may restart")
	f.Flag("write", &c.Write).Required().Because(unsafe).Says("it may change something; if in doubt, true")
	f.Flag("surface_conflict", &c.SurfaceConflict).Says("a compare-and-swap: it wants to lose a race rather than to be repeated").Default("false")
	f.Flag("connect_retry", &c.ConnectRetry).Otherwise(true).Says("it waits for a server that is away; false for a call whose answer degrades instead of failing").Default("true")
	f.OptionalFlag("one_request", &c.OneRequest).Says("true: an attempt is known to make one request that can have effects. False: it may make several, as a script does, so that [what it prints proves nothing of a write](#several-requests). Left out: the policy's rules alone decide").Default("not known").Since("1.2")
	f.Flag("repeatable", &c.Repeatable).Says("a write that its caller, or a key that this server honours, allows to be [applied again](#repeated-writes)").Default("false").Since("1.2")
	f.Flag("refuses_before_acting", &c.RefusesBeforeActing).Says("the caller's word that this server answers 409, 410, 412, 422, 429 and 503 [before it does anything](#what-a-host-sees-of-its-requests)").Default("false").Since("1.3")
	f.Int("budget_us", &c.BudgetUS, 1, fields.Most).Says("the call's own total budget").Default("none")
	f.OptionalInt("started_us", &c.StartedUS, -fields.Most, fields.Most).Says("when it began, before any wait for a lock").Default("with its first attempt")
	f.OptionalInt("seed", &c.Seed, 0, fields.Most).Says("of its [chance](#chance)").Default("events bring `random`")
}
