package policy

import (
	"math"
	"testing"

	"outlast/abi"
)

// The tests in this file hold the policy witan-core against what witan-core
// 0.45.0 did; testdata/record_witan_core.py recorded it.

type verdict struct {
	failureText
	Stderr string // beside a Text on stdout
	Write  bool
	Kind   string
}

func (v *verdict) result() *abi.Result {
	r := v.failureText.result()
	if v.Stream == "stdout" {
		r.Stderr.Head = v.Stderr
	}
	if v.Exit != nil && *v.Exit < 0 { // as Python tells of a signal
		r.ExitCode, r.Signal = nil, "SIGKILL"
	}
	return r
}

func TestWitanCoreVerdicts(t *testing.T) {
	for _, v := range lines[verdict](t, "testdata/witan_core_verdicts.jsonl") {
		call := abi.Call{Write: v.Write}
		if got := kindBy(t, "witan-core", call, v.result()); got != v.Kind {
			t.Errorf("%s %s, write %t: %q is %s, witan-core says %s", v.Transport, v.Stream, v.Write, v.Text, got, v.Kind)
		}
	}
}

// witanFailures is a text for each kind, as the recording has them.
var witanFailures = map[string]string{
	"unavailable":                "tcp connect error",
	"admission_cap":              "actor in-flight count cap 1 exceeded",
	"recovery_required":          "recovery required for operation 01",
	"needs_repair":               "run `omnigraph repair` before writing",
	"conflict":                   "stale view; refresh and retry",
	"failed":                     "something else",
	"precondition_failed":        "precondition failed on branch 'main'",
	"store_quarantined":          "OCC recovery sidecar '01': its manifest delta differs",
	"contract_violation":         "this request's effects are unknown",
	"full_text_rebuild_required": "run omnigraph rebuild-full-text-indexes",
	"storage_mismatch":           "stamped at internal schema v4, but this omnigraph reads only v6",
}

type witanLoop struct {
	Call struct {
		Remote, Write   bool
		SurfaceConflict bool  `json:"surface_conflict"`
		ConnectRetry    bool  `json:"connect_retry"`
		BudgetUS        int64 `json:"budget_us"`
	}
	Steps []struct {
		NowUS        int64    `json:"now_us"`
		Random       *int64   `json:"random"`
		Kind         string   `json:"kind"`
		RetryAfterUS *int64   `json:"retry_after_us"`
		DelayUS      *float64 `json:"delay_us"`
		Repair       bool     `json:"repair"`
	}
	End string
}

// ends is the kinds of outcome that an exception, or the lack of one, stands for.
var ends = map[string][]abi.OutcomeType{
	"ok":                   {abi.OutcomeOK},
	"StoreUnavailable":     {abi.OutcomeExhausted},
	"AdmissionCapExceeded": {abi.OutcomeExhausted},
	"WriteContention":      {abi.OutcomeExhausted},
	"WriteIndeterminate":   {abi.OutcomeIndeterminate},
	"OmnigraphConflict":    {abi.OutcomeConflict},
	"StoreQuarantined":     {abi.OutcomeFailed, abi.OutcomeIndeterminate},
	"RuntimeError":         {abi.OutcomeFailed, abi.OutcomeIndeterminate, abi.OutcomeExhausted, abi.OutcomePreconditionFailed},
}

// Whole calls: the same attempts, repairs and delays to the microsecond, and
// the same end.
func TestWitanCoreLoops(t *testing.T) {
	doc := builtin(t, "witan-core")
	for i, l := range lines[witanLoop](t, "testdata/witan_core_loops.jsonl") {
		begin := int64(0)
		call := abi.Call{
			Remote: l.Call.Remote, Write: l.Call.Write, SurfaceConflict: l.Call.SurfaceConflict, ConnectRetry: l.Call.ConnectRetry,
			BudgetUS: l.Call.BudgetUS, StartedUS: &begin,
		}
		state := ""
		for n, s := range l.Steps {
			last := n == len(l.Steps)-1
			result := done
			if s.Kind != "ok" {
				result = *exited(1, witanFailures[s.Kind], "")
				result.RetryAfterUS = s.RetryAfterUS
			}
			var a abi.Action
			a, state = ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: s.NowUS, Random: s.Random, Result: &result})
			if (a.Type == abi.Stop) != last || a.Repair != s.Repair {
				t.Errorf("call %d, attempt %d of %d (%s): %s", i, n+1, len(l.Steps), s.Kind, a.Encode())
				break
			}
			if s.DelayUS != nil && math.Abs(float64(a.DelayUS)-*s.DelayUS) > 1 {
				t.Errorf("call %d, attempt %d (%s): a delay of %d, witan-core has %.3f", i, n+1, s.Kind, a.DelayUS, *s.DelayUS)
			}
			if a.Repair {
				if !a.RepairForce {
					t.Errorf("call %d: a repair without force", i)
				}
				a, state = ask(t, doc, &call, state, &abi.Event{Type: abi.Repaired, NowUS: s.NowUS, Result: &panicked})
			}
			if last {
				checkEnd(t, i, l.End, a.Outcome)
			}
		}
	}
}

func checkEnd(t *testing.T, call int, end string, o *abi.Outcome) {
	t.Helper()
	for _, kind := range ends[end] {
		if o != nil && o.Type == kind {
			return
		}
	}
	t.Errorf("call %d: %+v, witan-core: %s", call, o, end)
}
