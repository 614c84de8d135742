// Package logs tells a slog.Logger of calls that fail, with the fields that
// abi/telemetry.json names. In an outage that many calls meet, one of them is told of
// as ever, and of the others how many there are.
//
//	plugin, err := host.Open(host.WithMiddleware(logs.To(nil)))
package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"outlast/abi"
	"outlast/host"
)

// To tells a logger; nil: slog.Default(). A line never quotes an attempt: whoever
// searches the log for an attempt's words must find none.
func To(l *slog.Logger) host.Middleware {
	crowds := &crowds{waiting: map[crowdKey]*crowd{}}
	return func(next host.RunFunc) host.RunFunc {
		return func(ctx context.Context, t *host.Task) (*abi.Outcome, error) {
			c := &call{logger: l, ctx: ctx, policy: t.PolicyName(), label: t.Call.Label, crowds: crowds}
			if l == nil {
				c.logger = slog.Default()
			}
			var outcome *abi.Outcome
			defer func() { c.leave(outcome) }() // also when an attempt panics
			outcome, err := next(ctx, t.Observed(c.observe))
			return outcome, err
		}
	}
}

// call is a call that is told of.
type call struct {
	logger        *slog.Logger
	ctx           context.Context
	policy, label string
	crowds        *crowds
	in            *crowd  // that it waits in; nil: it has not waited yet
	counted       bool    // it is told of only as one of those
	told          [2]bool // that an attempt was left out: of a server that is down, and not ready
}

func (c *call) observe(e host.Event) {
	switch e := e.(type) {
	case host.Waiting:
		c.waits(&e)
	case host.LeftOut:
		c.leftOut(&e)
	case host.Repairing:
		c.quietly(slog.LevelWarn, e.Kind+"; repairing", slog.String("kind", e.Kind))
	case host.PolicyInForce:
		c.inForce(&e)
	case host.Loaded:
		c.tell(slog.LevelDebug, fmt.Sprintf("the plugin was loaded (%s) in %.3f s", e.How, e.Took.Seconds()))
	case host.InstanceReplaced:
		c.tell(slog.LevelWarn, "an instance of the plugin failed and was replaced")
	case host.Stopped:
		c.stopped(&e.Outcome)
	}
}

func (c *call) waits(e *host.Waiting) {
	if c.in == nil {
		c.in, c.counted = c.crowds.enter(crowdKey{c.policy, e.Kind})
	}
	if e.Again {
		return
	}
	text := fmt.Sprintf("%s; attempt %d in %.2f s", e.Kind, e.Attempt, e.Delay.Seconds())
	fields := []slog.Attr{
		slog.String("kind", e.Kind), slog.String("budget", e.Budget), slog.Int64("attempt", e.Attempt), slog.Float64("delay", e.Delay.Seconds()),
	}
	if e.Remaining != nil {
		text += fmt.Sprintf(", of %.1f s left", e.Remaining.Seconds())
		fields = append(fields, slog.Float64("remaining", e.Remaining.Seconds()))
	}
	c.quietly(slog.LevelWarn, text, fields...)
	if c.counted {
		c.tellCrowd(slog.LevelWarn, c.crowds.soFar(c.in))
	}
}

// leftOut tells once of each why the attempts that were announced are not made.
func (c *call) leftOut(e *host.LeftOut) {
	told, text := &c.told[0], "the server is seen to be down: the next attempt is made when it is back, or when one is due all the same"
	if e.NotReady {
		told, text = &c.told[1], "the server is there, and not ready yet: the next attempt is made when it is ready, or when one is due all the same"
	}
	if !*told {
		c.quietly(slog.LevelWarn, text)
	}
	*told = true
}

// inForce tells of a folder whose policy cannot be used. One that never had it is no
// fault.
func (c *call) inForce(e *host.PolicyInForce) {
	switch {
	case e.Why == nil:
		c.tell(slog.LevelDebug, "the policy in force is that of the folder")
	case errors.Is(e.Why, fs.ErrNotExist) && e.Policy.Release() == nil:
		c.tell(slog.LevelDebug, "the policy in force is the one that comes with outlast")
	default:
		c.tell(slog.LevelWarn, "the policy in the folder cannot be used: "+e.Why.Error())
	}
}

func (c *call) stopped(o *abi.Outcome) {
	if o.Type == abi.OutcomeOK && o.Attempts <= 1 {
		return
	}
	level, text := slog.LevelError, o.Message
	if o.Type == abi.OutcomeOK {
		level = slog.LevelInfo
	}
	if text == "" {
		text = string(o.Type)
	}
	fields := []slog.Attr{slog.String("outcome", string(o.Type)), slog.Int64("attempts", o.Attempts)}
	if o.Kind != "" {
		fields = append(fields, slog.String("kind", o.Kind))
	}
	if o.Budget != "" {
		fields = append(fields, slog.String("budget", o.Budget))
	}
	switch o.Type {
	case abi.OutcomeIndeterminate, abi.OutcomeExhausted: // somebody has to look at each
		c.tell(level, text, fields...)
	default:
		c.quietly(level, text, fields...)
	}
}

// quietly tells, unless the call is only counted.
func (c *call) quietly(level slog.Level, text string, fields ...slog.Attr) {
	if !c.counted {
		c.tell(level, text, fields...)
	}
}

func (c *call) tell(level slog.Level, text string, fields ...slog.Attr) {
	all := []slog.Attr{slog.String("policy", c.policy)}
	if c.label != "" {
		all = append(all, slog.String("label", c.label))
	}
	c.logger.LogAttrs(c.ctx, level, "outlast: "+text, append(all, fields...)...)
}

// leave ends the call. The last of a crowd tells what became of all.
func (c *call) leave(o *abi.Outcome) {
	if c.in == nil {
		return
	}
	how := "without an outcome"
	if o != nil {
		how = string(o.Type)
	}
	if c.crowds.leave(c.in, how, c.counted) {
		c.tellCrowd(slog.LevelInfo, c.in.all())
	}
}

// tellCrowd tells of the calls that are only counted.
func (c *call) tellCrowd(level slog.Level, text string) {
	if text != "" {
		c.logger.LogAttrs(c.ctx, level, "outlast: "+text, slog.String("policy", c.policy), slog.String("kind", c.in.key.kind))
	}
}
