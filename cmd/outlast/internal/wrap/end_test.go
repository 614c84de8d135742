package wrap

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"outlast/abi"
)

func TestCodeShown(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		code     int
		shown    error
		timedOut bool
		want     int
	}{
		{0, nil, false, 0},
		{7, nil, false, 7},
		{7, full, true, 7},
		{0, full, false, 1},
		{0, fmt.Errorf("write: %w", syscall.EPIPE), false, 128 + int(syscall.SIGPIPE)},
		{0, nil, true, exitTimedOut},
		{0, full, true, 1},
	} {
		if got := codeShown(c.code, c.shown, c.timedOut); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// --indeterminate-code and --exhausted-code take the place of a code that is not
// 0, the first one before the second, and the first one for writes alone.
func TestCodesThatTheCallerWants(t *testing.T) {
	const own, doubt, spent = 7, 76, 75
	outcome := func(o abi.OutcomeType) *abi.Outcome { return &abi.Outcome{Type: o} }
	for _, c := range []struct {
		name      string
		code      int
		outcome   *abi.Outcome
		attempted bool
		write     int
		read      int
	}{
		{"a success", 0, outcome(abi.OutcomeOK), true, 0, 0},
		{"a failure", own, outcome(abi.OutcomeFailed), true, own, own},
		{"a budget that is spent", own, outcome(abi.OutcomeExhausted), true, spent, spent},
		{"a write that may have been applied", own, outcome(abi.OutcomeIndeterminate), true, doubt, own},
		{"an applied write whose output was lost", 1, outcome(abi.OutcomeOK), true, doubt, 1},
		{"the caller gave it up", 130, outcome(abi.OutcomeCancelled), true, 130, 130},
		{"nobody judged it", own, nil, true, doubt, own},
		{"it never ran", 127, nil, false, 127, 127},
	} {
		for _, read := range []bool{false, true} {
			var p Plan
			p.Call.Read = read
			p.Flags.IndeterminateCode, p.Flags.ExhaustedCode = new(doubt), new(spent)
			want := map[bool]int{false: c.write, true: c.read}[read]
			if got := p.codeFor(c.code, c.outcome, c.attempted); got != want {
				t.Errorf("%s, read %t: %d, and not %d", c.name, read, got, want)
			}
			if got := (&Plan{}).codeFor(c.code, c.outcome, c.attempted); got != c.code {
				t.Errorf("%s: %d without a wish", c.name, got)
			}
		}
	}
}
