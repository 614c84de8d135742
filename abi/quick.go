package abi

import "outlast/abi/strictjson"

// quick reads a decide request that nothing is wrong with and that names its
// policy, in a fifth of the strict reader's time, which would be most of a
// decision's. All others are left to that one: it alone says what is wrong.
// What this one reads, both read alike.
type quick struct {
	*strictjson.Reader
	request DecideRequest
	result  Result
	numbers [quickNumbers]int64 // that the request points to
	used    int
	one     bool // what the call's OneRequest points to
}

// quickNumbers is how many a request can point to: a call's 2, an event's 1 and
// a result's 5.
const quickNumbers = 8

// quickDecide reads a request; nil where that is for the strict reader.
func quickDecide(text string) *DecideRequest {
	if len(text) > MaxRequestBytes {
		return nil
	}
	q := &quick{Reader: strictjson.Read(text)}
	q.decide()
	if !q.OK() {
		return nil
	}
	return &q.request
}

// members are the names that an object has had, a bit each.
type members uint32

// meet notes a member, which may come once.
func (q *quick) meet(m *members, bit members) {
	if *m&bit != 0 {
		q.Give()
	}
	*m |= bit
}

// must gives up unless what it is told is so.
func (q *quick) must(so bool) {
	if !so {
		q.Give()
	}
}

// optional is where a number is kept that was met.
func (q *quick) optional(n int64) *int64 {
	to := &q.numbers[q.used%quickNumbers] // more are repeated members, and refused
	q.used++
	*to = n
	return to
}

func (q *quick) decide() {
	const policy, call, state, event, explain = 1, 2, 4, 8, 16
	var met members
	r := &q.request
	q.Open()
	for name := q.Next(); name != ""; name = q.Next() {
		switch name {
		case "policy":
			q.meet(&met, policy)
			r.Policy.Name = q.String()
		case "call":
			q.meet(&met, call)
			q.call(&r.Call)
		case "state":
			q.meet(&met, state)
			r.State = q.String()
		case "event":
			q.meet(&met, event)
			q.event(&r.Event)
		case "explain":
			q.meet(&met, explain)
			r.Explain = q.Bool()
		default:
			q.Give()
		}
	}
	q.must(met&(policy|call|event) == policy|call|event)
	q.must(len(r.State) <= MaxStateBytes)
}

func (q *quick) call(c *Call) {
	const label, remote, write, surface, connect, budget, started, seed, one, repeatable = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
	var met members
	c.ConnectRetry = true
	q.Open()
	for name := q.Next(); name != ""; name = q.Next() {
		switch name {
		case "label":
			q.meet(&met, label)
			c.Label = q.String()
		case "remote":
			q.meet(&met, remote)
			c.Remote = q.Bool()
		case "write":
			q.meet(&met, write)
			c.Write = q.Bool()
		case "surface_conflict":
			q.meet(&met, surface)
			c.SurfaceConflict = q.Bool()
		case "connect_retry":
			q.meet(&met, connect)
			c.ConnectRetry = q.Bool()
		case "budget_us":
			q.meet(&met, budget)
			c.BudgetUS = q.Int(1, strictjson.MaxInteger)
		case "started_us":
			q.meet(&met, started)
			c.StartedUS = q.optional(q.Int(-strictjson.MaxInteger, strictjson.MaxInteger))
		case "seed":
			q.meet(&met, seed)
			c.Seed = q.optional(q.Int(0, strictjson.MaxInteger))
		case "one_request":
			q.meet(&met, one)
			q.one = q.Bool()
			c.OneRequest = &q.one
		case "repeatable":
			q.meet(&met, repeatable)
			c.Repeatable = q.Bool()
		default:
			q.Give()
		}
	}
	q.must(met&(remote|write) == remote|write)
	q.must(len(c.Label) <= MaxLabelBytes)
}

func (q *quick) event(e *Event) {
	const kind, now, random, result, by = 1, 2, 4, 8, 16
	var met members
	q.Open()
	for name := q.Next(); name != ""; name = q.Next() {
		switch name {
		case "type":
			q.meet(&met, kind)
			e.Type = EventType(q.String())
		case "now_us":
			q.meet(&met, now)
			e.NowUS = q.Int(-strictjson.MaxInteger, strictjson.MaxInteger)
		case "random":
			q.meet(&met, random)
			e.Random = q.optional(q.Int(0, 1<<32-1))
		case "result":
			q.meet(&met, result)
			e.Result = &q.result
			q.ended(&q.result)
		case "by":
			q.meet(&met, by)
			e.By = Readiness(q.String())
		default:
			q.Give()
		}
	}
	q.must(met&(kind|now) == kind|now)
	hasResult, seen := met&result != 0, e.By == Accepting || e.By == Ready
	switch e.Type {
	case Attempted, Repaired:
		q.must(hasResult && met&by == 0)
	case Cancelled:
		q.must(met&by == 0)
	case Woken:
		q.must(!hasResult && seen)
	case Down, NotReady:
		q.must(!hasResult && met&by == 0)
	default:
		q.Give()
	}
}

// ended reads a result whose texts are whole.
func (q *quick) ended(r *Result) {
	const exit, signal, stdout, stderr, message, status, after, started, ended, late, streamed, sent = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048
	var met members
	r.Sent = SentUnknown
	q.Open()
	for name := q.Next(); name != ""; name = q.Next() {
		switch name {
		case "exit_code":
			q.meet(&met, exit)
			r.ExitCode = q.optional(q.Int(-strictjson.MaxInteger, strictjson.MaxInteger))
		case "signal":
			q.meet(&met, signal)
			r.Signal = q.String()
		case "stdout":
			q.meet(&met, stdout)
			r.Stdout.Head = q.text()
		case "stderr":
			q.meet(&met, stderr)
			r.Stderr.Head = q.text()
		case "message":
			q.meet(&met, message)
			r.Message.Head = q.text()
		case "http_status":
			q.meet(&met, status)
			r.HTTPStatus = q.optional(q.Int(0, strictjson.MaxInteger))
		case "retry_after_us":
			q.meet(&met, after)
			n, _ := strictjson.Scaled(q.Number(), 0)
			r.RetryAfterUS = q.optional(n)
		case "started_us":
			q.meet(&met, started)
			r.StartedUS = q.optional(q.Int(-strictjson.MaxInteger, strictjson.MaxInteger))
		case "ended_us":
			q.meet(&met, ended)
			r.EndedUS = q.optional(q.Int(-strictjson.MaxInteger, strictjson.MaxInteger))
		case "timed_out":
			q.meet(&met, late)
			r.TimedOut = q.Bool()
		case "streamed":
			q.meet(&met, streamed)
			r.Streamed = q.Bool()
		case "sent":
			q.meet(&met, sent)
			r.Sent = Sent(q.String())
		default: // texts that were cut are long, and then the reading matters less
			q.Give()
		}
	}
	q.must(len(r.Signal) <= maxSignalName)
	q.must(r.Sent == SentUnknown || r.Sent == SentNo || r.Sent == SentYes)
}

func (q *quick) text() string {
	s := q.String()
	q.must(len(s) <= MaxTextBytes)
	return s
}
