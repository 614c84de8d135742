package policy

import (
	"slices"
	"strings"
	"testing"

	"outlast/abi"
)

// accounted is what omnigraph 0.11 to 0.13 printed, with the verdict that is right
// for it and others that are acceptable: ok, retry, stop, or indeterminate.
type accounted struct {
	ID, Version, Verb, Command, Format string
	Exit                               int64
	Stdout, Stderr                     string
	Applied                            string // no, yes or maybe
	Kind                               string
	Read, Write                        string
	Accept                             []string
	Remote                             *bool
	Twin                               string `json:"indistinguishable_from"`
	Lying                              bool   `json:"needs_lying_server"`
}

func accounts(t testing.TB) []accounted {
	return lines[accounted](t, "testdata/captures-0.13.jsonl")
}

func (a *accounted) call(write bool) abi.Call {
	seed := int64(1)
	return abi.Call{Remote: a.Remote == nil || *a.Remote, Write: write, ConnectRetry: true, Seed: &seed}
}

func (a *accounted) result() *abi.Result { return exited(a.Exit, a.Stderr, a.Stdout) }

// verdictOf is what the policy makes of a result.
func verdictOf(t tb, call abi.Call, result *abi.Result) (string, abi.Action) {
	t.Helper()
	doc, _ := BuiltIn("omnigraph")
	action, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Result: result})
	switch {
	case action.Type == abi.Retry:
		return "retry", action
	case action.Outcome.Type == abi.OutcomeOK:
		return "ok", action
	case call.Write && action.Outcome.Effects == abi.EffectsUnknown:
		return "indeterminate", action
	}
	return "stop", action
}

// otherKinds are the captures that are of another kind by the policy than by what
// happened, and why. Their verdicts are right all the same.
var otherKinds = map[string]string{
	"429.contradictory":      "the text does not say it, and the verdict is the same",
	"gone.after_discovery":   "a write prints the same for a connection that broke",
	"spoof.500.discovery":    "a read prints no status",
	"spoof.500.loading":      "a read prints no status",
	"spoof.500.transition":   "a read prints no status",
	"spoof.500.precondition": "a read prints no status",
	"spoof.500.blocked":      "a read prints no status",
	"spoof.500.quarantine":   "a stop in any case",
}

func TestAccounts(t *testing.T) {
	for _, a := range accounts(t) {
		want := a.Read
		if a.Verb == "write" {
			want = a.Write
		}
		got, action := verdictOf(t, a.call(a.Verb == "write"), a.result())
		// The one twin: a server that lies prints for people what a true one prints.
		twin := a.Twin != "" && a.Lying && a.Format == "human"
		if got != want && !slices.Contains(a.Accept, got) && !twin {
			t.Errorf("%s: %s, want %s: %s", a.ID, got, want, action.Encode())
		}
		// Nothing but the one twin is repeated, or called without effects, that had some.
		if a.Verb == "write" && a.Applied != "no" && got != "indeterminate" && got != "ok" && !twin {
			t.Errorf("%s was applied, and is: %s", a.ID, action.Encode())
		}
		if _, other := otherKinds[scenarioOf(a)]; action.Kind != a.Kind && a.Kind != "ok" && !other {
			t.Errorf("%s: kind %s, want %s", a.ID, action.Kind, a.Kind)
		}
	}
}

func scenarioOf(a accounted) string {
	_, after, _ := strings.Cut(strings.TrimPrefix(a.ID, a.Version+"."+a.Command+"."), ".")
	return after
}

// A verb without an account prints as a read does, though it writes: nothing that
// it prints is believed. Only 0.11 is, which printed a whole report for all verbs
// alike.
func TestWritesWithoutAnAccount(t *testing.T) {
	believed := map[string]bool{"0.11.query.human.refused": true, "0.11.query.json.refused": true}
	for _, a := range accounts(t) {
		if a.Verb != "read" || a.Exit == 0 {
			continue
		}
		got, action := verdictOf(t, a.call(true), a.result())
		if (got == "retry") != believed[a.ID] || got == "stop" && a.Version != "0.11" {
			t.Errorf("%s of a write: %s", a.ID, action.Encode())
		}
		several := a.call(true)
		several.OneRequest = new(false)
		if got, action := verdictOf(t, several, a.result()); got != "indeterminate" {
			t.Errorf("%s of a write that may make several requests: %s", a.ID, action.Encode())
		}
	}
}

// Cut anywhere, what a write printed proves nothing: not that it may be repeated,
// and not that it had no effects.
func TestAccountsThatAreCut(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 17
	}
	for _, a := range accounts(t) {
		if a.Verb != "write" || a.Exit == 0 || a.Version == "0.11" || a.Exit == exitPrecondition {
			continue // 0.10 printed that text with this exit code, and nothing more
		}
		text := a.Stderr
		if a.Stdout != "" {
			text = a.Stdout
		}
		for i := 0; i < len(text)-1; i += stride {
			result := exited(a.Exit, text[:i], "")
			if a.Stdout != "" {
				result = exited(a.Exit, a.Stderr, text[:i])
			}
			result.Stderr, result.Stdout = abi.Clip(result.Stderr.Head), abi.Clip(result.Stdout.Head)
			if got, action := verdictOf(t, a.call(true), result); got != "indeterminate" {
				t.Fatalf("%s, of which %q is left: %s", a.ID, text[:i], action.Encode())
			}
		}
	}
}

// With its middle cut out, as a host sends a long text, a write is repeated only
// if its last line says that nothing was done.
func TestAccountsWithoutTheirMiddle(t *testing.T) {
	for _, a := range accounts(t) {
		if a.Verb != "write" || a.Exit == 0 || a.Stderr == "" || a.Stdout != "" {
			continue
		}
		for i := 0; i <= len(a.Stderr); i += 7 {
			for _, j := range []int{i, i + 5, i + 50} {
				result := a.result()
				result.Stderr = abi.Text{Head: a.Stderr[:i], Tail: a.Stderr[min(j, len(a.Stderr)):], Cut: true}
				got, action := verdictOf(t, a.call(true), result)
				if got == "retry" && a.Applied != "no" || got == "retry" && a.Version != "0.11" && !strings.Contains(a.Stderr, `"effects":"none"`) {
					t.Fatalf("%s, cut from %d to %d: %s", a.ID, i, j, action.Encode())
				}
			}
		}
	}
}

// An account that is not as any release gives it proves nothing, and nor does a
// refusal of which more is said.
func TestAccountsThatNoReleaseGives(t *testing.T) {
	const (
		away    = "server discovery timed out; this data request was not sent\n"
		loading = "graph is loading; wait for its startup attempt to complete\nHTTP 503\n"
		closing = `{"error":"server operation admission is closed; reconcile any prior write before retrying","code":"service_unavailable",`
		unknown = `"command_outcome":{"execution":"unknown","effects":"unknown","action":"reconcile"},"http_status":503}`
	)
	for name, c := range map[string]struct {
		result *abi.Result
		want   string
	}{
		"as it is":              {exited(1, away+noEffects+"\n", ""), "retry"},
		"a member more":         {exited(1, away+strings.Replace(noEffects, "{", `{"of":"x",`, 1)+"\n", ""), "indeterminate"},
		"the cap's action":      {exited(1, away+tryAgain+"\n", ""), "indeterminate"},
		"the cap's exit code":   {exited(75, away+noEffects+"\n", ""), "indeterminate"},
		"a refusal":             {exited(1, loading+unknownEffects+"\n", ""), "retry"},
		"another action":        {exited(1, loading+strings.Replace(unknownEffects, "reconcile", "perhaps", 1)+"\n", ""), "indeterminate"},
		"a refusal's exit code": {exited(75, loading+unknownEffects+"\n", ""), "indeterminate"},
		"a refusal in JSON":     {exited(1, "", closing+unknown), "retry"},
		"a detail":              {exited(1, "", closing+`"recovery_required":{"operation_id":"x"},`+unknown), "indeterminate"},
	} {
		if got, action := verdictOf(t, write0(1), c.result); got != c.want {
			t.Errorf("%s: %s", name, action.Encode())
		}
	}
}
