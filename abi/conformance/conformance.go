// Package conformance runs the cases of abi/vectors against a plugin as some
// host loads it, so that every host shows the same behaviour:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, myPlugin)
//	}
//
// A case goes through as many doors as can express it: the host drives with
// decide, or the plugin drives with run, from its start, after a first attempt
// that was made without it, or taken up again after each step.
package conformance

import (
	"context"
	"fmt"
	"testing"
)

// Plugin is the plugin as a host calls it. Run calls it from one goroutine.
type Plugin interface {
	// Call gives input to an export and returns its output, an envelope. While
	// run is running, its host functions are h's methods; h is nil for the
	// other exports. An error means that no envelope came back.
	Call(ctx context.Context, export string, input []byte, h Host) ([]byte, error)
}

// Host is what answers the plugin's host functions: bytes in, bytes out, as
// the contract has them. No bytes as an answer mean that the host failed:
// offset 0.
type Host interface {
	Now(ctx context.Context) []byte
	Sleep(ctx context.Context, action []byte) []byte
	Attempt(ctx context.Context, action []byte) []byte
}

// Exceptions are cases that a host is known to fail, by name, each with the
// reason. One that passes, or that is no case, fails the run.
type Exceptions map[string]string

// none is what every host is measured by: no exceptions.
var none = Exceptions{}

// Run runs every case through every door that it has, and logs a summary. It
// skips cases that are slow in an interpreter where testing.Short is set.
func Run(t *testing.T, p Plugin, exceptions ...Exceptions) {
	t.Helper()
	cases, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	excepted := none
	if len(exceptions) > 0 {
		excepted = exceptions[0]
	}
	r := &tally{excepted: excepted, left: map[string]bool{}}
	for name := range excepted {
		r.left[name] = true
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			if c.Slow && testing.Short() {
				r.skipped++
				t.Skip("slow in an interpreter")
			}
			failures, exception := r.count(c, Check(t.Context(), p, c))
			for _, failure := range failures {
				t.Error(failure)
			}
			if failures != nil {
				t.Log(c.Why)
			}
			if exception != "" {
				t.Skip("excepted: " + exception)
			}
		})
	}
	for name := range r.left {
		r.failed++
		t.Errorf("the exception %q is of no case", name)
	}
	t.Log(r.summary())
}

// tally counts what became of the cases.
type tally struct {
	excepted                       Exceptions
	left                           map[string]bool // exceptions whose case has not been met
	passed, failed, known, skipped int
}

// count counts a case with the problems that were found, if any. It gives what
// is to be reported: failures, or the reason of an exception.
func (r *tally) count(c *Case, problems []string) (failures []string, exception string) {
	delete(r.left, c.Name)
	reason, excepted := r.excepted[c.Name]
	switch {
	case excepted && len(problems) > 0:
		r.known++
		return nil, reason
	case excepted:
		problems = []string{"it passes, so its exception is not needed any more: " + reason}
	case len(problems) == 0:
		r.passed++
		return nil, ""
	}
	r.failed++
	return problems, ""
}

func (r *tally) summary() string {
	return fmt.Sprintf("%d passed, %d failed, %d excepted, %d skipped", r.passed, r.failed, r.known, r.skipped)
}

// Check runs one case through its doors and says what is wrong, if anything.
func Check(ctx context.Context, p Plugin, c *Case) []string {
	if c.Export != "" {
		return under("request", checkRequest(ctx, p, c))
	}
	var problems []string
	for _, door := range c.Doors {
		problems = append(problems, under(string(door), throughDoor(ctx, p, c, door))...)
	}
	return problems
}

// under puts where in front of each problem.
func under(where string, problems []string) []string {
	for i := range problems {
		problems[i] = where + ": " + problems[i]
	}
	return problems
}
