package conformance

import (
	"context"
	"encoding/json"
	"testing"
)

// mute is a host that fails in one function, at a time of its choice.
type mute struct {
	*script
	function string
	after    int // calls of that function that are answered
}

func (m *mute) Sleep(ctx context.Context, action []byte) []byte {
	return m.unless("outlast_sleep", func() []byte { return m.script.Sleep(ctx, action) })
}

func (m *mute) Attempt(ctx context.Context, action []byte) []byte {
	return m.unless("outlast_attempt", func() []byte { return m.script.Attempt(ctx, action) })
}

func (m *mute) unless(function string, answer func() []byte) []byte {
	if function == m.function {
		if m.after--; m.after < 0 {
			return nil
		}
	}
	return answer()
}

// The loop around decide ends as run does where its host fails.
func TestDrivenNamesTheFunctionThatFailed(t *testing.T) {
	for function, most := range map[string]int{"outlast_sleep": 1, "outlast_attempt": 2} {
		for after := range most {
			c := caseNamed(t, "refused-conflict-refused")
			d := &driven{p: direct{}, h: &mute{newScript(c, 0, 0), function, after}, request: c.request(), stopped: func([]byte) {}}
			answer, problems, err := d.loop(t.Context())
			if err != nil || problems != nil {
				t.Fatal(err, problems)
			}
			e, err := opened(answer)
			if err != nil {
				t.Fatal(err)
			}
			if problems := mismatch(&WantError{Code: "host_failed", Field: function}, e.Error); problems != nil {
				t.Error(problems)
			}
		}
	}
}

func TestDrivenToldOfTheStop(t *testing.T) {
	c := caseNamed(t, "refused-conflict-refused")
	var last json.RawMessage
	d := &driven{p: direct{}, h: newScript(c, 0, 0), request: c.request(), stopped: func(action []byte) { last = action }}
	answer, problems, err := d.loop(t.Context())
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	if problems := same("stop", c.Steps[len(c.Steps)-1].Want, last); problems != nil {
		t.Error(problems)
	}
	if e, err := opened(answer); err != nil || e.OK == nil {
		t.Errorf("got %s, %v", answer, err)
	}
}
