package policy

import (
	"strings"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// What omnigraph 0.12 and 0.13 print when a write fails, and where. For people,
// on stderr, the program's own lines coming last, so that no message can forge
// them:
//
//	omnigraph load → http://… (served)       banners, if any
//	actor in-flight count cap 16 exceeded    the message, of any number of lines
//	HTTP 429                                 if there was an answer
//	Retry-After: 60                          if it had one, and only behind that line
//	command_outcome: {"execution":"not_started","effects":"none","action":"retry"}
//
// With --json, on stdout, one object with these as members, while stderr has the
// banners only. Reads print a report, or the object without an outcome.
const (
	outcomeLine    = "command_outcome: "
	retryAfterLine = "Retry-After: "
)

// accounted reads what the program says of its own command: the object on
// stdout, whatever stands on stderr, or else what stderr ends with.
func (v *view) accounted() said {
	parts, searched := v.lines(v.result.Stderr)
	last := strings.TrimSuffix(parts[len(parts)-1], "\n")
	before, line := cutLast(last)
	outcome, stated := strings.CutPrefix(line, outcomeLine)
	if f, ok := v.stdoutObject(); ok {
		if stated && v.effectsIn(outcome) != string(abi.EffectsNone) {
			f.effects = string(abi.EffectsUnknown) // the more careful of the two
		}
		return f
	}
	if blank(searched) {
		return said{}
	}
	v.text(parts, searched)
	var f said
	if stated {
		f.effects, last = v.effectsIn(outcome), before
	}
	rest, answered := v.answerLines(last)
	if !stated && !answered && v.report(parts) {
		v.reportStatus()
		return f
	}
	v.form = FormLines
	if len(parts) > 1 {
		rest = parts[0] // ends with its line's end, so it is never taken for a whole message
	}
	v.message = lower(withoutBanners(rest))
	return f
}

func (v *view) stdoutObject() (said, bool) {
	if v.result.Stdout.Cut || v.result.Stdout.Head == "" {
		return said{}, false
	}
	return v.object(v.result.Stdout.Head)
}

// answerLines reads the lines on the server's answer that text ends with, and
// gives what is before them.
func (v *view) answerLines(text string) (before string, found bool) {
	before, line := cutLast(text)
	after, has := strings.CutPrefix(line, retryAfterLine)
	if has {
		before, line = cutLast(before)
	}
	n, ok := statusLine(line)
	if !ok {
		return text, false
	}
	v.setStatus(n)
	if has {
		v.setRetryAfter(after)
	}
	return before, true
}

// reportStatus reads the " (HTTP <status>)" with which a report's message ends
// where the answer broke the contract.
func (v *view) reportStatus() {
	if i := strings.LastIndex(v.message, " (http "); i >= 0 && !v.whole && strings.HasSuffix(v.message, ")") {
		if n, ok := statusLine("HTTP " + v.message[i+len(" (http "):len(v.message)-1]); ok {
			v.setStatus(n)
		}
	}
}

// objectAccount reads the members that only an account has.
func (v *view) objectAccount(f *said, m *strictjson.Members) {
	if outcome := m.Value("command_outcome"); outcome.Kind != strictjson.Missing {
		f.effects = careful(f.effects, v.effectsOf(outcome))
	} else if f.effects != "" {
		f.effects = string(abi.EffectsUnknown) // no release says it so
	}
	if after := m.Value("retry_after"); after.Kind == strictjson.String {
		v.setRetryAfter(after.Text)
	}
	v.details = v.details || m.Unknown()
}

// careful is the more careful of what is said in two places; the first may be "".
func careful(a, b string) string {
	if a == "" {
		return b
	}
	if a == string(abi.EffectsNone) && b == a {
		return a
	}
	return string(abi.EffectsUnknown)
}

func (v *view) effectsIn(outcome string) string {
	value, _ := parseObject(outcome)
	return v.effectsOf(value)
}

// Exit codes that go with an outcome: of a failure, of a condition that does not
// hold, and of a cap (sysexits' EX_TEMPFAIL).
const (
	exitFailed       = 1
	exitPrecondition = 4
	exitCapped       = 75
)

// effectsOf is what an outcome says of the effects of the whole command. It counts
// only in the known words, all of them and no others, of a program that ended by
// itself with the exit code that goes with them; anything else leaves the effects
// unknown, and is no account.
func (v *view) effectsOf(outcome strictjson.Value) string {
	v.accounts = false
	if outcome.Kind != strictjson.Object || len(outcome.Names) != 3 || v.result.ExitCode == nil || v.result.Signal != "" {
		return string(abi.EffectsUnknown)
	}
	m := new(strictjson.Faults).Members(outcome, "")
	execution, effects, action := m.String("execution"), m.String("effects"), m.String("action")
	switch code := *v.result.ExitCode; {
	case execution == "not_started" && effects == string(abi.EffectsNone):
		if action == "retry" && code == exitCapped || action == "refresh" && (code == exitFailed || code == exitPrecondition) {
			return effects
		}
	case execution == "unknown" && effects == string(abi.EffectsUnknown):
		detailed := action == "refresh" || action == "recover" // it advises these for details only
		v.details = v.details || detailed
		v.accounts = code == exitFailed && (action == "reconcile" || detailed)
	}
	return string(abi.EffectsUnknown)
}

// setRetryAfter notes a server's Retry-After in whole seconds, where the host
// does not know better. One that is a date, which only a wall clock could turn
// into a delay, is not heard, and nor is any other text.
func (v *view) setRetryAfter(text string) {
	if n, ok := digitsOnly(text); ok && v.retryAfter == nil {
		micros := mulDiv(n, million, 1)
		v.retryAfter = &micros
	}
}

// withoutBanners is a text without the lines that omnigraph prints before its
// message.
func withoutBanners(text string) string {
	for {
		line, rest, _ := strings.Cut(text, "\n")
		if !isBanner(line) {
			return text
		}
		text = rest
	}
}

func isBanner(line string) bool {
	switch {
	case strings.HasPrefix(line, "omnigraph "):
		return strings.Contains(line, " → ") && (strings.HasSuffix(line, " (served)") || strings.Contains(line, " (direct"))
	case strings.HasPrefix(line, "warning: "), strings.HasPrefix(line, "Deployment-ID: "),
		strings.HasPrefix(line, "cluster admission retained: "):
		return true
	}
	return false
}
