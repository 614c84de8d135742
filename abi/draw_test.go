package abi

import (
	"strings"

	"outlast/abi/strictjson"

	"pgregory.net/rapid"
)

// The functions in this file draw messages, every field of them.

func drawInt(t *rapid.T, name string, low, high int64) int64 {
	return rapid.OneOf(rapid.Int64Range(low, high), rapid.SampledFrom([]int64{low, high})).Draw(t, name)
}

func drawOptional(t *rapid.T, name string, low, high int64) *int64 {
	if rapid.Bool().Draw(t, name+" is given") {
		n := drawInt(t, name, low, high)
		return &n
	}
	return nil
}

// drawString draws UTF-8, also what JSON must escape.
func drawString(t *rapid.T, name string) string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "\x1b[91mred\x1b[0m\r\n", "\"\\/\b\f\n\t\x00\x7f", "\u2028\u2029\ufffd𝄞", `{"error":"x"}`,
	})).Draw(t, name)
}

func drawText(t *rapid.T, name string) Text {
	if rapid.Bool().Draw(t, name+" is cut") {
		return Text{Head: drawString(t, name+" head"), Tail: drawString(t, name+" tail"), Cut: true}
	}
	return Text{Head: drawString(t, name)}
}

func drawCall(t *rapid.T) Call {
	return Call{
		Label:           rapid.StringN(-1, -1, MaxLabelBytes).Draw(t, "label"),
		Remote:          rapid.Bool().Draw(t, "remote"),
		Write:           rapid.Bool().Draw(t, "write"),
		SurfaceConflict: rapid.Bool().Draw(t, "surface_conflict"),
		ConnectRetry:    rapid.Bool().Draw(t, "connect_retry"),
		OneRequest:      rapid.SampledFrom([]*bool{nil, new(false), new(true)}).Draw(t, "one_request"),
		Repeatable:      rapid.Bool().Draw(t, "repeatable"),

		RefusesBeforeActing: rapid.Bool().Draw(t, "refuses_before_acting"),

		BudgetUS:  drawInt(t, "budget_us", 0, strictjson.MaxInteger),
		StartedUS: drawOptional(t, "started_us", -strictjson.MaxInteger, strictjson.MaxInteger),
		Seed:      drawOptional(t, "seed", 0, strictjson.MaxInteger),
	}
}

func drawResult(t *rapid.T) *Result {
	const most = strictjson.MaxInteger
	r := &Result{
		ExitCode:     drawOptional(t, "exit_code", -most, most),
		Signal:       rapid.SampledFrom([]string{"", "SIGKILL", strings.Repeat("S", maxSignalName)}).Draw(t, "signal"),
		Stdout:       drawText(t, "stdout"),
		Stderr:       drawText(t, "stderr"),
		HTTPStatus:   drawOptional(t, "http_status", 0, most),
		Message:      drawText(t, "message"),
		RetryAfterUS: drawOptional(t, "retry_after_us", -most, most),
		StartedUS:    drawOptional(t, "started_us", -most, most),
		EndedUS:      drawOptional(t, "ended_us", -most, most),
		TimedOut:     rapid.Bool().Draw(t, "timed_out"),
		Streamed:     rapid.Bool().Draw(t, "streamed"),
		Sent:         rapid.SampledFrom([]Sent{SentUnknown, SentNo, SentYes}).Draw(t, "sent"),
		OnlyRequest:  rapid.Bool().Draw(t, "only_request"),
	}
	if !r.IsProcess() {
		r.Failure = Failure(rapid.SampledFrom(AllFailures).Draw(t, "failure"))
	}
	return r
}

func drawEvent(t *rapid.T) Event {
	e := Event{
		Type:   rapid.SampledFrom([]EventType{Attempted, Woken, Down, NotReady, Repaired, Cancelled}).Draw(t, "type"),
		NowUS:  drawInt(t, "now_us", -strictjson.MaxInteger, strictjson.MaxInteger),
		Random: drawOptional(t, "random", 0, 1<<32-1),
	}
	switch {
	case e.Type == Woken:
		e.By = drawReadiness(t)
	case e.Type.EndsWait():
	case e.Type != Cancelled || rapid.Bool().Draw(t, "an attempt was running"):
		e.Result = drawResult(t)
	}
	return e
}

func drawReadiness(t *rapid.T) Readiness {
	return rapid.SampledFrom([]Readiness{Accepting, Ready}).Draw(t, "by")
}

func drawAction(t *rapid.T) Action {
	const most = strictjson.MaxInteger
	a := Action{
		Type:        Retry,
		Kind:        drawString(t, "kind"),
		Budget:      drawString(t, "budget"),
		Attempt:     drawInt(t, "attempt", 0, most),
		DelayUS:     drawInt(t, "delay_us", 0, most),
		RemainingUS: drawOptional(t, "remaining_us", 0, most),
		Repair:      rapid.Bool().Draw(t, "repair"),
		RepairForce: rapid.Bool().Draw(t, "repair_force"),
		State:       drawString(t, "state"),
	}
	if rapid.Bool().Draw(t, "it stops") {
		o := drawOutcome(t)
		a = Action{Type: Stop, Kind: o.Kind, Budget: o.Budget, Outcome: &o}
	}
	if rapid.Bool().Draw(t, "it can be woken") {
		a.Wake = &Wake{By: drawReadiness(t), AfterUS: drawInt(t, "after_us", 0, most)}
	}
	if rapid.Bool().Draw(t, "it is explained") {
		a.Why = &Why{Rule: drawString(t, "rule")}
		for range rapid.IntRange(0, 3).Draw(t, "matches") {
			a.Why.Matched = append(a.Why.Matched, Matched{In: drawString(t, "in"), Text: drawString(t, "text")})
		}
	}
	return a
}

func drawOutcome(t *rapid.T) Outcome {
	const most = strictjson.MaxInteger
	o := Outcome{
		Type: rapid.SampledFrom([]OutcomeType{
			OutcomeOK, OutcomeFailed, OutcomeExhausted, OutcomeConflict, OutcomePreconditionFailed, OutcomeIndeterminate, OutcomeCancelled,
		}).Draw(t, "outcome"),
		Kind:           drawString(t, "kind"),
		Effects:        rapid.SampledFrom([]Effects{EffectsNone, EffectsUnknown}).Draw(t, "effects"),
		Reason:         drawString(t, "reason"),
		Budget:         drawString(t, "budget"),
		BudgetAttempts: drawInt(t, "budget_attempts", 0, most),
		BudgetSpentUS:  drawInt(t, "budget_spent_us", 0, most),
		Attempts:       drawInt(t, "attempts", 0, most),
		ElapsedUS:      drawInt(t, "elapsed_us", 0, most),
		RetryAfterUS:   drawOptional(t, "retry_after_us", 0, most),
		Message:        drawString(t, "message"),
		Remedy:         drawString(t, "remedy"),
		LastError:      drawString(t, "last_error"),
	}
	for range rapid.IntRange(0, 2*HistoryEnds).Draw(t, "history") {
		o.History = append(o.History, HistoryEntry{
			Attempt: drawInt(t, "attempt", 0, most), AtUS: drawInt(t, "at_us", 0, most), Kind: drawString(t, "kind"),
		})
	}
	return o
}
