package conformance

import "testing"

// played is a case of these steps, whose clock starts at 1000.
func played(t *testing.T, steps string) *Case {
	t.Helper()
	return loaded(t, `{"name":"n","why":"w","policy":"omnigraph","call":{},"clock_us":1000,"steps":[`+steps+`]}`)
}

func loaded(t *testing.T, text string) *Case {
	t.Helper()
	cases, err := LoadFrom(oneFile(`{"about":"a","cases":[` + text + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return &cases[0]
}

func TestScriptMovesTheClock(t *testing.T) {
	retry := `{"type":"retry","attempt":2,"delay_us":500}`
	c := played(t, `{"attempt":{"exit_code":1},"takes_us":7,"random":3,"want":`+retry+`},
		{"attempt":{"exit_code":2},"want":`+retry+`},
		{"attempt":{"exit_code":3},"wait_us":-50,"takes_us":1,"want":`+retry+`},
		{"woken":"ready","after_us":20,"random":4,"want":{"type":"retry","attempt":2,"delay_us":0}},
		{"repair":{"exit_code":0},"takes_us":2,"want":`+retry+`},
		{"down":true,"random":5,"want":`+retry+`},
		{"down":true,"wait_us":400,"want":`+retry+`},
		{"cancelled":true,"after_us":9,"want":{"type":"stop"}}`)
	s := newScript(c, 0, c.ClockUS)
	ctx := t.Context()
	for i, test := range []struct{ got, want string }{
		{string(s.Now(ctx)), `{"now_us":1000}`},
		{string(s.Attempt(ctx, []byte(firstAction))), `{"type":"attempted","now_us":1007,"random":3,"result":{"exit_code":1}}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"full","now_us":1507}`},
		{string(s.Attempt(ctx, []byte(retry))), `{"type":"attempted","now_us":1507,"result":{"exit_code":2}}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"full","now_us":1457}`},
		{string(s.Attempt(ctx, []byte(retry))), `{"type":"attempted","now_us":1458,"result":{"exit_code":3}}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"woken","by":"ready","now_us":1478,"random":4}`},
		{string(s.Attempt(ctx, []byte(`{"type":"retry","attempt":2,"delay_us":0}`))), `{"type":"repaired","now_us":1480,"result":{"exit_code":0}}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"down","now_us":1980,"random":5}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"down","now_us":2380}`},
		{string(s.Sleep(ctx, []byte(retry))), `{"wait":"cancelled","now_us":2389}`},
		{string(s.Sleep(ctx, []byte(retry))), ``},
	} {
		if test.got != test.want {
			t.Errorf("%d: want %s, got %s", i, test.want, test.got)
		}
	}
	// The last sleep came after a stop was wanted.
	if len(s.problems) == 0 {
		t.Error("an action in a stop's place is not seen")
	}
}

func TestScriptSeesWrongActions(t *testing.T) {
	retry := `{"type":"retry","attempt":2,"delay_us":500}`
	for _, action := range []string{`{"type":"retry","attempt":2,"delay_us":501}`, `{"type":"retry","attempt":2,"delay_us":500,"state":"a b"}`, `{"type":"retry","attempt":2,"delay_us":500}`, `[]`} {
		s := newScript(played(t, `{"attempt":{},"want":`+retry+`},{"attempt":{},"want":`+retry+`}`), 1, 0)
		s.states = true
		if s.Sleep(t.Context(), []byte(action)); len(s.problems) == 0 {
			t.Errorf("%s is not seen", action)
		}
	}
	s := newScript(played(t, `{"attempt":{},"want":`+retry+`},{"attempt":{},"want":`+retry+`}`), 1, 0)
	s.states = true
	if s.Sleep(t.Context(), []byte(retry[:len(retry)-1]+`,"state":"o1"}`)); s.problems != nil {
		t.Errorf("a right action: %q", s.problems)
	}
}

func TestScriptBreaksAFunction(t *testing.T) {
	for function, call := range map[string]func(*script) []byte{
		"outlast_now":     func(s *script) []byte { return s.Now(t.Context()) },
		"outlast_sleep":   func(s *script) []byte { return s.Sleep(t.Context(), []byte(`{"type":"retry","delay_us":1}`)) },
		"outlast_attempt": func(s *script) []byte { return s.Attempt(t.Context(), []byte(firstAction)) },
	} {
		c := played(t, `{"broken":{"function":"`+function+`","answer":"nonsense"},"want_error":{"code":"host_failed","field":"`+function+`"}}`)
		if got := string(call(newScript(c, 0, 0))); got != "nonsense" {
			t.Errorf("%s: got %q", function, got)
		}
		c.Steps[0].Broken.Answer = ""
		if got := call(newScript(c, 0, 0)); got != nil {
			t.Errorf("%s: got %q, not offset 0", function, got)
		}
	}
}

func TestStepEvents(t *testing.T) {
	for want, step := range map[string]*Step{
		`{"type":"woken","now_us":-3,"by":"accepting"}`:                  {Woken: "accepting"},
		`{"type":"down","now_us":-3,"random":6}`:                         {Down: true, Random: ptr[int64](6)},
		`{"type":"cancelled","now_us":-3}`:                               {Cancelled: []byte("true")},
		`{"type":"cancelled","now_us":-3,"result":{"signal":"SIGKILL"}}`: {Cancelled: []byte(`{"signal":"SIGKILL"}`)},
		`{"type":"attempted","now_us":-3,"result":{"signal":"SIGKILL"}}`: {Attempt: []byte(`{"signal":"SIGKILL"}`)},
		`{"type":"repaired","now_us":-3,"result":{}}`:                    {Repair: []byte(`{}`)},
	} {
		if got := string(step.event(-3)); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
