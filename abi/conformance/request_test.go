package conformance

import (
	"bytes"
	"testing"
)

func TestCheckCatchesWrongRequests(t *testing.T) {
	for _, test := range []struct{ what, name, old, new string }{
		{"an error in an answer's place", "state-of-1-0", `{"v":1,"ok":`, `{"v":1,"error":{"code":"internal","message":"x"},"okay":`},
		{"another answer", "state-of-1-0", `"delay_us":2000000`, `"delay_us":2000001`},
		{"an answer in an error's place", "refused-state-cut", `"error":`, `"ok":{},"was":`},
		{"another error", "refused-state-cut", `bad_state`, `bad_request`},
		{"another field", "refused-call-case", `call.Write`, `call.write`},
		{"other faults", "refused-policy-faults", `"field":"policy.budgets.w.max_wait"`, `"field":"policy.budgets.w"`},
	} {
		spoil := func(text []byte) []byte { return bytes.Replace(text, []byte(test.old), []byte(test.new), 1) }
		if Check(t.Context(), direct{spoil: spoil}, caseNamed(t, test.name)) == nil {
			t.Errorf("%s is not seen", test.what)
		}
	}
}
