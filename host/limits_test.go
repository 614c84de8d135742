package host_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// A number of attempts ends a call, and the outcome says so: what is known of a
// write is told as ever.
func TestAttempts(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		for name, c := range map[string]struct {
			call   host.Call
			sent   abi.Sent
			most   int64
			want   abi.OutcomeType
			made   int64
			reason string
			text   string
		}{
			"a read":                    {host.Call{Remote: true, Read: true}, "", 3, abi.OutcomeExhausted, 3, abi.ReasonAttempts, "gave up after 3 attempts over 1.6 s, all that its caller allows"},
			"a write, unsent":           {host.Call{Remote: true}, abi.SentNo, 2, abi.OutcomeExhausted, 2, abi.ReasonAttempts, "gave up after 2 attempts over 0.5 s, all that its caller allows; nothing was applied"},
			"a write, in doubt":         {host.Call{Remote: true}, "", 2, abi.OutcomeIndeterminate, 1, "", ""},
			"a repeatable one":          {host.Call{Remote: true, Repeatable: true}, "", 2, abi.OutcomeIndeterminate, 2, abi.ReasonAttempts, "gave up after 2 attempts over 0.5 s, all that its caller allows; it may have been applied: look before trying again"},
			"one that ends by itself":   {host.Call{Remote: true, Read: true, Budget: time.Second}, "", 9, abi.OutcomeExhausted, 3, abi.ReasonCall, ""},
			"one attempt and no second": {host.Call{Remote: true, Read: true}, "", 1, abi.OutcomeExhausted, 1, abi.ReasonAttempts, "gave up after 1 attempt over 0 s, all that its caller allows"},
		} {
			clock, made := &virtual.Clock{}, int64(0)
			c.call.Seed = new(int64)
			o, err := d.run(compiled, t.Context(), &host.Task{
				Call: c.call, Clock: clock, Attempts: c.most,
				Attempt: func(context.Context, int64) (abi.Result, error) {
					made++
					return abi.Result{Failure: abi.FailureUnconnected, Sent: c.sent, Message: abi.Clip("refused")}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.Type != c.want || made != c.made || o.Attempts != c.made || o.Reason != c.reason || c.text != "" && o.Message != c.text {
				t.Errorf("%s: %d attempts, %+v", name, made, o)
			}
		}
	})
}

// A result that says itself that it cannot be repeated is not called the last of
// those that a call may make, unless it is.
func TestAttemptsAndSpent(t *testing.T) {
	o, err := doors[0].run(compiled, t.Context(), &host.Task{
		Call: host.Call{Remote: true, Read: true}, Attempts: 1,
		Attempt: func(context.Context, int64) (abi.Result, error) {
			return abi.Result{Failure: abi.FailureUnconnected, Streamed: true, Message: abi.Clip("refused")}, nil
		},
	})
	if err != nil || o.Reason != abi.ReasonStreamed || o.Type != abi.OutcomeFailed {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestWithOneAttempt(t *testing.T) {
	p, err := host.Open(host.WithOneAttempt())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	task, starts := outageTask(&virtual.Clock{}, time.Minute, 0)
	o, err := doors[0].run(p, t.Context(), task)
	if err != nil || len(*starts) != 1 || o.Reason != abi.ReasonAttempts {
		t.Errorf("%d attempts, %+v, %v", len(*starts), o, err)
	}
}

func TestMaxWait(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		clock := &virtual.Clock{}
		task, _ := outageTask(clock, time.Hour, 0)
		for _, wait := range []time.Duration{20 * time.Second, 20 * time.Second, 30 * time.Second} {
			began := clock.Now()
			task.MaxWait = wait
			o, err := d.run(compiled, t.Context(), task)
			if err != nil || o.Reason != abi.ReasonWindow || clock.Now()-began != wait {
				t.Errorf("%v: %v, %+v, %v", wait, clock.Now()-began, o, err)
			}
		}
	})
}

// What a task cannot mean is told before the first attempt.
func TestLimitsThatAreNone(t *testing.T) {
	attempts := mustPolicy(t, `{"version":1,"name":"few","budgets":{"b":{"attempts":2,"backoff":{"type":"exponential","base":"1ms","multiplier":2,"cap":"1s","jitter":0}}},"rules":[{"kind":"failed","then":[{"stop":{"effects":"unknown"}}]}]}`)
	for name, task := range map[string]*host.Task{
		"a negative window":         {MaxWait: -1},
		"a window below a µs":       {MaxWait: 1},
		"a window for no budget":    {Policy: attempts, MaxWait: time.Second},
		"a negative spread":         {Spread: -1},
		"a spread that is too wide": {Spread: host.MaxSpread + time.Microsecond},
		"a spread, later":           {Follow: must(host.Follow(t.TempDir(), "network")), Spread: -1},
		"attempts":                  {Attempts: -1},
		"a time limit":              {AttemptTimeout: -1},
		"errors for a command's":    {Policy: omnigraph, On: func(error) bool { return true }},
		"a negative window, later":  {Follow: must(host.Follow(t.TempDir(), "network")), MaxWait: -1},
	} {
		task.Attempt = func(context.Context, int64) (abi.Result, error) {
			t.Errorf("%s: an attempt was made", name)
			return succeeded(), nil
		}
		if _, err := compiled.Run(t.Context(), task); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A time limit ends an attempt that obeys its context, by which a read is tried
// again, and a write only if nothing was sent.
func TestAttemptTimeout(t *testing.T) {
	throughAll(t, func(t *testing.T, d door) {
		for name, c := range map[string]struct {
			read bool
			sent abi.Sent
			want abi.OutcomeType
			made int64
		}{
			"a read":          {true, "", abi.OutcomeOK, 3},
			"a write":         {false, "", abi.OutcomeIndeterminate, 1},
			"a write, unsent": {false, abi.SentNo, abi.OutcomeOK, 3},
		} {
			made := int64(0)
			o, err := d.run(compiled, t.Context(), &host.Task{
				Call: host.Call{Remote: true, Read: c.read}, Clock: &virtual.Clock{}, AttemptTimeout: 5 * time.Millisecond,
				Attempt: func(ctx context.Context, n int64) (abi.Result, error) {
					if made = n; n == 3 {
						return succeeded(), nil
					}
					<-ctx.Done()
					return abi.Result{Message: abi.Clip("too late"), Sent: c.sent}, ctx.Err()
				},
			})
			if err != nil || o.Type != c.want || made != c.made {
				t.Errorf("%s: %d attempts, %+v, %v", name, made, o, err)
			}
		}
	})
}

// One that the time limit did not end is not called too late.
func TestAttemptTimeoutOfAnother(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, err := doors[0].run(compiled, ctx, &host.Task{
		Call: host.Call{Remote: true, Read: true}, Clock: &virtual.Clock{}, AttemptTimeout: time.Minute,
		Attempt: func(ctx context.Context, _ int64) (abi.Result, error) {
			cancel()
			<-ctx.Done()
			return abi.Result{Message: abi.Clip("cancelled")}, ctx.Err()
		},
	})
	if err != nil || o.Type != abi.OutcomeCancelled || o.Kind != "failed" {
		t.Errorf("%+v, %v", o, err)
	}
}

// The caller's word that an error is a server which is away holds for reads, for
// what may be repeated, and for what was seen unsent: not for a write in doubt, not
// even one of which the caller says that it makes one request.
func TestOn(t *testing.T) {
	away := errors.New("away")
	throughAll(t, func(t *testing.T, d door) {
		for name, c := range map[string]struct {
			call host.Call
			sent abi.Sent
			only bool
			want abi.OutcomeType
		}{
			"a read":          {host.Call{Remote: true, Read: true}, "", false, abi.OutcomeOK},
			"a repeatable":    {host.Call{Remote: true, Repeatable: true}, "", false, abi.OutcomeOK},
			"a write":         {host.Call{Remote: true}, "", false, abi.OutcomeIndeterminate},
			"a claimed write": {host.Call{Remote: true}, "", true, abi.OutcomeIndeterminate},
			"an unsent write": {host.Call{Remote: true}, abi.SentNo, false, abi.OutcomeOK},
		} {
			task := &host.Task{
				Call: c.call, Clock: &virtual.Clock{}, OnlyRequest: c.only,
				On: func(err error) bool { return errors.Is(err, away) },
				Attempt: func(_ context.Context, n int64) (abi.Result, error) {
					if n == 5 {
						return succeeded(), nil
					}
					return abi.Result{Message: abi.Clip("own"), Sent: c.sent}, away
				},
			}
			if o, err := d.run(compiled, t.Context(), task); err != nil || o.Type != c.want {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
			task.On = func(err error) bool { return errors.Is(err, context.Canceled) }
			if o, err := d.run(compiled, t.Context(), task); err != nil || o.Type == abi.OutcomeOK {
				t.Errorf("%s, of another error: %+v, %v", name, o, err)
			}
		}
	})
}
