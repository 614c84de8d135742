package telemetry

import (
	"strconv"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/progress"
)

// Sink takes what a call does to a metric: a counter is increased by the value, a
// histogram gets it, a gauge is set to it. Labels are the values of the metric's.
type Sink func(m *Metric, value float64, labels ...string)

// NoKind is the label of a call that met no failure.
const NoKind = "none"

// Call tells a sink of one call. It is for one goroutine at a time, as observers are.
type Call struct {
	Sink Sink

	// Progress is the call's, and takes each event before Add does.
	Progress *progress.State

	waited time.Duration // that has been told
	woken  bool          // the attempt that follows
	used   float64       // of the fullest budget's window, up to the last wait
	window bool          // there was one
}

// Add takes the next event, but for the last: End takes what is in that.
func (c *Call) Add(e host.Event) {
	switch e := e.(type) {
	case host.AttemptEnded:
		c.Sink(Attempts, 1, strconv.FormatBool(e.OK))
	case host.Waiting:
		c.waits(&e)
	case host.Woken:
		c.Sink(Wakes, 1)
		c.woken = true
	case host.InstanceReplaced:
		c.Sink(InstancesReplaced, 1)
	case host.PolicyInForce:
		c.InForce(e.Policy)
	}
	c.tellWaited()
}

// InForce tells of the policy that a call goes by, where policies are followed.
func (c *Call) InForce(p *host.Policy) {
	serial, expires := 0.0, 0.0
	if r := p.Release(); r != nil {
		serial = float64(r.Serial)
		if !r.Expires.IsZero() {
			expires = float64(r.Expires.Unix())
		}
	}
	c.Sink(PolicySerial, serial)
	c.Sink(PolicyExpires, expires)
}

// End tells what the call came to.
func (c *Call) End(o *abi.Outcome, at time.Duration) {
	kind := o.Kind
	if kind == "" {
		kind = NoKind
	}
	c.Sink(Calls, 1, string(o.Type), kind)
	if o.Type != abi.OutcomeOK || o.Attempts > 1 {
		c.Sink(RetriedCall, (time.Duration(o.ElapsedUS) * time.Microsecond).Seconds(), string(o.Type))
	}
	c.tellWaited()
	c.use(at - c.Progress.Wait.Opened)
	if c.window {
		c.Sink(BudgetUsed, c.used)
	}
}

func (c *Call) waits(e *host.Waiting) {
	if !e.Again {
		c.Sink(Retries, 1, e.Kind, e.Budget)
		if c.woken {
			c.Sink(VainWakes, 1)
		}
		c.woken = false
	}
	if e.Remaining != nil {
		c.use(c.Progress.Wait.Window - *e.Remaining)
	}
}

// use notes how much of the latest wait's window has been used, if it has one.
func (c *Call) use(spent time.Duration) {
	if window := c.Progress.Wait.Window; window > 0 {
		c.window = true
		c.used = max(c.used, min(1, spent.Seconds()/window.Seconds()))
	}
}

func (c *Call) tellWaited() {
	if all := c.Progress.Waited(); all > c.waited {
		c.Sink(Wait, (all - c.waited).Seconds())
		c.waited = all
	}
}

// Middleware tells the sinks of all calls of a plugin: of each the one for the name
// of its policy.
func Middleware(sinkOf func(policy string) Sink) host.Middleware {
	return host.Observing(func(t *host.Task) host.Observer {
		state := &progress.State{}
		call := &Call{Sink: sinkOf(t.PolicyName()), Progress: state}
		return func(e host.Event) {
			state.Add(e)
			if end, over := e.(host.Stopped); over {
				call.End(&end.Outcome, end.At)
				return
			}
			call.Add(e)
		}
	})
}
