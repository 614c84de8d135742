package policyflags

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

func exit(code int64, stderr string) abi.Result {
	return abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr)}
}

func ended(signal string) abi.Result { return abi.Result{Signal: signal} }

func timedOut() abi.Result { return abi.Result{Signal: "SIGTERM", TimedOut: true} }

func mustPolicy(t testing.TB, f Flags, call Call) *host.Policy {
	t.Helper()
	p, err := f.Policy(call)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// explain is what the real plugin decides about the first failure.
func explain(t testing.TB, p *host.Policy, call host.Call, r abi.Result) abi.Action {
	t.Helper()
	call.Label, call.Remote, call.Seed = "test", true, new(int64)
	action, err := plugin.Explain(context.Background(), p, call, r)
	if err != nil {
		t.Fatal(err)
	}
	return action
}

func TestWhatIsRetried(t *testing.T) {
	every := []abi.Result{exit(1, ""), exit(7, "x"), exit(255, ""), ended("SIGSEGV"), timedOut()}
	tests := []struct {
		name        string
		flags       Flags
		retry, stop []abi.Result
	}{
		{"no list: every failure", Flags{Attempts: new(int64(3))}, every, nil},
		{"backoff alone: every failure", Flags{Backoff: new("1s")}, every, nil},
		{
			"codes", Flags{RetryExit: new("7,28,100-110")},
			[]abi.Result{exit(7, "any text"), exit(28, ""), exit(100, ""), exit(105, ""), exit(110, ""), timedOut()},
			[]abi.Result{exit(1, "7"), exit(6, ""), exit(99, ""), exit(111, ""), ended("SIGKILL")},
		},
		{
			"a code above 128 is also a signal", Flags{RetryExit: new("137")},
			[]abi.Result{exit(137, ""), ended("SIGKILL")},
			[]abi.Result{exit(9, ""), ended("SIGSEGV"), exit(139, "")},
		},
		{
			"texts", Flags{RetryStderr: []string{"connection refused", "a, b"}},
			[]abi.Result{exit(1, "curl: (7) Connection REFUSED\n"), exit(9, "one\ntwo\nx a, b y"), ended2("SIGABRT", "connection refused")},
			[]abi.Result{exit(1, "connection reset"), exit(1, "a"), exit(1, "")},
		},
		{
			"either is enough", Flags{RetryExit: new("7"), RetryStderr: []string{"refused"}},
			[]abi.Result{exit(7, "no such thing"), exit(1, "refused"), exit(7, "refused")},
			[]abi.Result{exit(1, "no such thing")},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := mustPolicy(t, test.flags, Call{Read: true})
			for _, r := range test.retry {
				if a := explain(t, p, host.Call{Read: true}, r); a.Type != abi.Retry {
					t.Errorf("%v: %s", r, a.Type)
				}
				// The document guards itself, whatever its flags said.
				if a := explain(t, p, host.Call{}, r); a.Type != abi.Stop || a.Outcome.Type != abi.OutcomeIndeterminate {
					t.Errorf("a write was not left alone after %v: %s", r, a.Type)
				}
			}
			for _, r := range test.stop {
				if a := explain(t, p, host.Call{Read: true}, r); a.Type != abi.Stop || a.Outcome.Type != abi.OutcomeFailed {
					t.Errorf("%v: %s", r, a.Type)
				}
			}
			if a := explain(t, p, host.Call{Read: true}, exit(0, "connection refused")); a.Outcome == nil || a.Outcome.Type != abi.OutcomeOK {
				t.Error("exit code 0 is no success")
			}
		})
	}
}

func ended2(signal, stderr string) abi.Result {
	r := ended(signal)
	r.Stderr = abi.Clip(stderr)
	return r
}

// starts runs a command that always fails under the policy, on a virtual
// clock, and gives when its attempts began.
func starts(t *testing.T, p *host.Policy, budget time.Duration) ([]time.Duration, *abi.Outcome) {
	t.Helper()
	clock := &virtual.Clock{}
	var at []time.Duration
	outcome, err := plugin.RunInPlugin(context.Background(), &host.Task{
		Policy: p, Clock: clock,
		Call: host.Call{Label: "test", Remote: true, Read: true, Seed: new(int64), Budget: budget},
		Attempt: func(context.Context, int64) (abi.Result, error) {
			at = append(at, clock.Now())
			return exit(7, "refused"), nil
		},
	})
	if outcome == nil {
		t.Fatal(err)
	}
	return at, outcome
}

func seconds(list ...float64) (out []time.Duration) {
	for _, s := range list {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

func TestSchedules(t *testing.T) {
	tests := []struct {
		name   string
		flags  Flags
		wait   time.Duration
		budget time.Duration
		want   []time.Duration
		reason string
	}{
		{"three attempts", Flags{Attempts: new(int64(3)), Backoff: new("1s")}, 0, 0, seconds(0, 1, 2), abi.ReasonAttempts},
		{"one attempt", Flags{Attempts: new(int64(1))}, 0, 0, seconds(0), abi.ReasonAttempts},
		{"a window", Flags{Backoff: new("1s"), RetryExit: new("7")}, 2500 * time.Millisecond, 0, seconds(0, 1, 2, 2.5), abi.ReasonWindow},
		{"the call's end", Flags{Attempts: new(int64(9)), Backoff: new("1s")}, 0, 2500 * time.Millisecond, seconds(0, 1, 2, 2.5), abi.ReasonCall},
		{"attempts before the call's end", Flags{Attempts: new(int64(2)), Backoff: new("1s")}, 0, time.Minute, seconds(0, 1), abi.ReasonAttempts},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			call := Call{Read: true}
			if test.wait > 0 {
				call.MaxWait = &test.wait
			}
			at, outcome := starts(t, mustPolicy(t, test.flags, call), test.budget)
			if diff := cmp.Diff(test.want, at); diff != "" {
				t.Error(diff)
			}
			if outcome.Type != abi.OutcomeExhausted || outcome.Reason != test.reason {
				t.Errorf("outcome %s, reason %s: %s", outcome.Type, outcome.Reason, outcome.Message)
			}
		})
	}
}

// Growing waits are as they say, each at most a tenth longer, and at the
// longest at most a tenth of it shorter.
func TestGrowingWaits(t *testing.T) {
	at, _ := starts(t, mustPolicy(t, Flags{Attempts: new(int64(7)), Backoff: new("0.5s..10s*3")}, Call{Read: true}), 0)
	want := seconds(0.5, 1.5, 4.5, 10, 10, 10)
	for i, d := range want {
		got := at[i+1] - at[i]
		low, high := d, d+d/10
		if d == 10*time.Second {
			low, high = d*10/11, d
		}
		if got < low-time.Microsecond || got > high+time.Microsecond {
			t.Errorf("wait %d took %v, not from %v to %v", i+1, got, low, high)
		}
	}
}

func TestDefaultWindow(t *testing.T) {
	at, outcome := starts(t, mustPolicy(t, Flags{RetryExit: new("7")}, Call{Read: true}), 0)
	if last := at[len(at)-1]; last != 150*time.Second {
		t.Errorf("the last attempt began at %v", last)
	}
	if want := "retryable for 150 s; its max_wait is 150s"; !strings.Contains(outcome.Message, want) {
		t.Errorf("the message is %q, without %q", outcome.Message, want)
	}
}

func TestBadFlags(t *testing.T) {
	minute := time.Minute
	nothing := time.Duration(0)
	tests := []struct {
		flags Flags
		call  Call
		want  []string
	}{
		{Flags{RetryExit: new("7"), Attempts: new(int64(3))}, Call{}, []string{"--retry-exit, --attempts", "--read", "--repeatable"}},
		{Flags{RetryStderr: []string{"x"}, Backoff: new("1s")}, Call{}, []string{"--retry-stderr, --backoff", "--read", "--repeatable"}},
		{Flags{RetryExit: new("")}, Call{Read: true}, []string{"--retry-exit", `""`, "7,28,100-110"}},
		{Flags{RetryExit: new("7,0")}, Call{Read: true}, []string{"--retry-exit", `"0"`, "0 is success"}},
		{Flags{RetryExit: new("300")}, Call{Read: true}, []string{"--retry-exit", "300", "from 1 to 255"}},
		{Flags{RetryExit: new("9-7")}, Call{Read: true}, []string{"--retry-exit", "9-7", "backwards"}},
		{Flags{RetryStderr: []string{"ok", ""}}, Call{Read: true}, []string{"--retry-stderr", "1 to 1000 bytes"}},
		{Flags{RetryStderr: []string{"\xff"}}, Call{Read: true}, []string{"--retry-stderr", "UTF-8", `"\xff"`}},
		{Flags{RetryStderr: []string{strings.Repeat("x", 1001)}}, Call{Read: true}, []string{"--retry-stderr", "1001 bytes"}},
		{Flags{RetryStderr: make([]string, 201)}, Call{Read: true}, []string{"--retry-stderr", "200", "201"}},
		{Flags{Attempts: new(int64)}, Call{Read: true}, []string{"--attempts", "from 1 to 10000", "not 0"}},
		{Flags{Attempts: new(int64(10001))}, Call{Read: true}, []string{"--attempts", "not 10001"}},
		{Flags{Backoff: new("")}, Call{Read: true}, []string{"--backoff", "0.5s..10s"}},
		{Flags{Backoff: new("10s..1s")}, Call{Read: true}, []string{"--backoff", "10s..1s", "shorter"}},
		{Flags{Backoff: new("1s")}, Call{Read: true, MaxWait: &nothing}, []string{"--max-wait", "0s", "150s"}},
		{Flags{Attempts: new(int64(3))}, Call{Read: true, MaxWait: &minute}, []string{"--attempts and --max-wait", "--call-budget"}},
	}
	for _, test := range tests {
		_, err := test.flags.Policy(test.call)
		if err == nil {
			t.Errorf("%+v: no error", test.flags)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in: %v", want, err)
			}
		}
	}
}

func TestDescribesPolicy(t *testing.T) {
	for _, f := range []Flags{{RetryExit: new("")}, {RetryStderr: []string{""}}, {Attempts: new(int64)}, {Backoff: new("")}} {
		if !f.DescribesPolicy() {
			t.Errorf("%+v asks for no policy", f)
		}
	}
	if (&Flags{Repeatable: true}).DescribesPolicy() {
		t.Error("--repeatable alone says nothing of what is retried")
	}
}

// Whatever is given, the policy passes the checks of the document language, or
// the error names a flag.
func TestEveryPolicyIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Flags{Repeatable: true}
		if rapid.Bool().Draw(t, "exit") {
			f.RetryExit = new(rapid.StringMatching(`[0-9]{1,3}(-[0-9]{1,3})?(,[0-9]{1,3})*`).Draw(t, "list"))
		}
		f.RetryStderr = rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "texts")
		if rapid.Bool().Draw(t, "counted") {
			f.Attempts = new(rapid.Int64Range(-1, 10_001).Draw(t, "attempts"))
		}
		if rapid.Bool().Draw(t, "delays") {
			f.Backoff = new(rapid.StringMatching(`[0-9]{1,12}(\.[0-9]{1,3})?(us|ms|s|m|h)(\.\.[0-9]{1,12}(us|s|h)(\*[0-9]{1,4}(\.[0-9]{1,6})?)?)?`).Draw(t, "backoff"))
		}
		_, err := f.Policy(Call{})
		var fault *host.PolicyError
		if errors.As(err, &fault) {
			t.Fatalf("the document language refuses what the flags allow: %v", err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "--") {
			t.Fatalf("no flag is named: %v", err)
		}
	})
}
