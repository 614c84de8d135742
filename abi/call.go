package abi

import "outlast/abi/strictjson"

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
	Repeatable bool   // a write that may be applied again: chosen for as a read, told of as a write
	BudgetUS   int64  // the call's total budget in microseconds; 0: none
	StartedUS  *int64 // when the call began, before any wait for a lock; nil: with its first event
	Seed       *int64 // of the jitter, from 0 to 2^53-1; nil: events bring their own random
}

func readCall(f *strictjson.Faults, v strictjson.Value, path string) Call {
	m := f.Members(v, path)
	c := Call{
		Label:           m.String("label"),
		Remote:          m.Bool("remote", false),
		Write:           m.Bool("write", false),
		SurfaceConflict: m.Bool("surface_conflict", false),
		ConnectRetry:    m.Bool("connect_retry", true),
		Repeatable:      m.Bool("repeatable", false),
		StartedUS:       optionalInt(m, "started_us", -strictjson.MaxInteger),
		Seed:            optionalInt(m, "seed", 0),
	}
	if m.Has("one_request") {
		is := m.Bool("one_request", false)
		c.OneRequest = &is
	}
	c.BudgetUS, _ = m.Int("budget_us", 1, strictjson.MaxInteger)
	if len(c.Label) > MaxLabelBytes {
		m.Fault("label", "is longer than 256 bytes")
	}
	for _, name := range []string{"remote", "write"} {
		if !m.Has(name) {
			m.Fault(name, "is missing: a policy cannot guess what is safe")
		}
	}
	m.End()
	return c
}

func (c *Call) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("label", c.Label)
	w.Name("remote")
	w.Bool(c.Remote)
	w.Name("write")
	w.Bool(c.Write)
	w.TrueMember("surface_conflict", c.SurfaceConflict)
	if !c.ConnectRetry {
		w.Name("connect_retry")
		w.Bool(false)
	}
	if c.OneRequest != nil {
		w.Name("one_request")
		w.Bool(*c.OneRequest)
	}
	w.TrueMember("repeatable", c.Repeatable)
	w.IntMember("budget_us", c.BudgetUS)
	writeOptional(w, "started_us", c.StartedUS)
	writeOptional(w, "seed", c.Seed)
	w.Close('}')
}
