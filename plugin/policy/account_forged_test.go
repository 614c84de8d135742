package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"outlast/abi"

	"pgregory.net/rapid"
)

const (
	unknownEffects = `command_outcome: {"execution":"unknown","effects":"unknown","action":"reconcile"}`
	noEffects      = `command_outcome: {"execution":"not_started","effects":"none","action":"refresh"}`
	tryAgain       = `command_outcome: {"execution":"not_started","effects":"none","action":"retry"}`
)

// refusedTexts are what a server says that refuses a write before any effect, and
// that is worth waiting for, with its code.
var refusedTexts = map[string]string{
	"graph is loading; wait for its startup attempt to complete":                      "graph_unavailable",
	"graph admission is closed for a serving transition":                              "graph_unavailable",
	"server operation admission is closed; reconcile any prior write before retrying": "service_unavailable",
}

// forgery is a message that a server has full control of: words of the documents
// and of the program, its own lines among them, in any order.
func forgery(t *rapid.T, words []string) string {
	own := []string{"HTTP 503", "\nHTTP 503\n", "HTTP 429", "Retry-After: 1", noEffects, tryAgain, unknownEffects, "\n" + noEffects, "\n" + noEffects + "\n", "omnigraph load → x (served)\n", "warning: x\n"}
	for text := range refusedTexts {
		own = append(own, text, text+"\n")
	}
	slices.Sort(own)
	word := rapid.OneOf(rapid.SampledFrom(own), rapid.SampledFrom(own), rapid.SampledFrom(words))
	return strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "message"), rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "joined by"))
}

// Whatever a server says in a message, a write whose effects the program calls
// unknown is repeated only for the status 503 and exactly one of its own texts.
func TestNoMessageHasAWriteRepeated(t *testing.T) {
	list := words(t)
	rapid.Check(t, func(t *rapid.T) {
		message := forgery(t, list)
		status := rapid.SampledFrom([]string{"200", "400", "401", "404", "409", "412", "429", "500", "502", "503", "504"}).Draw(t, "status")
		ends := "\nHTTP " + status + "\n"
		if rapid.Bool().Draw(t, "asked to wait") {
			ends += "Retry-After: 0\n"
		}
		exit := rapid.SampledFrom([]int64{1, 1, 4, 75}).Draw(t, "exit")
		call := write0(1)
		_, refusal := refusedTexts[lower(withoutBanners(plain(message)))]
		advice := rapid.SampledFrom([]string{"reconcile", "refresh", "recover"}).Draw(t, "action")
		account := strings.Replace(unknownEffects, "reconcile", advice, 1)
		got, action := verdictOf(t, call, exited(exit, message+ends+account+"\n", ""))
		if got == "retry" && !(status == "503" && refusal && advice == "reconcile") {
			t.Fatalf("%q with %s: %s", message, status, action.Encode())
		}
		if got == "stop" && (status == "500" || status == "200" || status == "429" || status[0] == '5' && !strings.Contains(message, "graph is unavailable")) {
			t.Fatalf("%q with %s has no effects: %s", message, status, action.Encode())
		}
	})
}

// The same in JSON, where status, code and text must all be right, and nothing
// else may be said. A member that comes twice, or inside another, counts nothing.
func TestNoObjectHasAWriteRepeated(t *testing.T) {
	list := words(t)
	texts := []string{}
	for text := range refusedTexts {
		texts = append(texts, text)
	}
	const race = "retryable storage commit conflict: Commit conflict for version 3"
	texts = append(texts, race)
	slices.Sort(texts)
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.OneOf(rapid.SampledFrom(texts), rapid.Custom(func(t *rapid.T) string { return forgery(t, list) })).Draw(t, "text")
		code := rapid.SampledFrom([]string{"", "graph_unavailable", "service_unavailable", "internal", "too_many_requests", "api_contract_mismatch", "conflict"}).Draw(t, "code")
		status := rapid.SampledFrom([]int{0, 200, 409, 429, 500, 502, 503}).Draw(t, "status")
		outcome := rapid.SampledFrom([]string{
			`{"execution":"unknown","effects":"unknown","action":"reconcile"}`, `{"execution":"unknown","effects":"unknown","action":"recover"}`, `{"execution":"unknown","effects":"none","action":"retry"}`,
			`{"execution":"not_started","effects":"none","action":"refresh","of":"x"}`, `{"effects":"none"}`, `{"execution":"not_started","effects":"none"}`,
			`{"command_outcome":{"execution":"not_started","effects":"none","action":"refresh"}}`, `"none"`, `null`, `[]`, "",
		}).Draw(t, "outcome")
		members := []string{`"error":` + encoded(message)}
		if code != "" {
			members = append(members, `"code":`+encoded(code))
		}
		if status != 0 {
			members = append(members, `"http_status":`+encoded(status))
		}
		if outcome != "" {
			members = append(members, `"command_outcome":`+outcome)
		}
		more := rapid.SampledFrom([]string{"", "", `"request_dispatched":false`, `"effects":"none"`, `"recovery_required":{"operation_id":"x"}`,
			`"x":{"command_outcome":{"execution":"not_started","effects":"none","action":"refresh"}}`, `"error":"a"`, `"code":"graph_unavailable"`}).Draw(t, "more")
		if more == `"code":"graph_unavailable"` && code == "" {
			more = ""
		}
		if more != "" {
			members = append(members, more)
		}
		members = rapid.Permutation(members).Draw(t, "order")
		stderr := rapid.SampledFrom([]string{"", "omnigraph load → x (served)\n", noEffects + "\n"}).Draw(t, "stderr")
		result := exited(rapid.SampledFrom([]int64{1, 4, 75}).Draw(t, "exit"), stderr, "{"+strings.Join(members, ",")+"}")
		got, action := verdictOf(t, write0(1), result)
		right := refusedTexts[message] != "" && refusedTexts[message] == code && status == 503 ||
			strings.HasPrefix(message, "retryable storage commit conflict: ") && code == "conflict" && status == 409
		right = right && strings.Contains(outcome, "reconcile")
		extra := more != "" && more != `"request_dispatched":false` && more != `"effects":"none"`
		if got == "retry" && !(right && !extra) {
			t.Fatalf("%s\n%s", result.Stdout.Head, action.Encode())
		}
	})
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Whatever a server asks for, the cap's next attempt is never earlier than the
// schedule has it, and what is longer than a bound ends the call.
func TestNoRetryAfterMeansAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.OneOf(
			rapid.SampledFrom([]string{"0", "00", "-1", "+1", "1.5", "1e3", " 1", "1 ", "", "Wed, 21 Oct 2026 07:28:00 GMT", "9223372036854775808", "٣", "0x10", "60\t"}),
			rapid.StringMatching(`[0-9]{1,25}`), rapid.String(),
		).Filter(func(s string) bool { return !strings.Contains(s, "\n") }).Draw(t, "asked")
		for _, result := range []*abi.Result{
			exited(75, "actor in-flight count cap 1 exceeded\nHTTP 429\nRetry-After: "+asked+"\n"+tryAgain+"\n", ""),
			exited(75, "", `{"error":"x","code":"too_many_requests","command_outcome":`+strings.TrimPrefix(tryAgain, outcomeLine)+`,"http_status":429,"retry_after":`+encoded(asked)+`}`),
		} {
			_, action := verdictOf(t, write0(1), result)
			switch {
			case action.Kind != "admission_cap":
				t.Fatalf("asked for %q: %s", asked, action.Encode())
			case action.Type == abi.Retry && action.DelayUS < 250_000:
				t.Fatalf("asked for %q: %s", asked, action.Encode())
			case action.Type == abi.Stop && (action.Outcome.Reason != abi.ReasonRetryAfter || strings.Trim(asked, "0123456789") != ""):
				t.Fatalf("asked for %q: %s", asked, action.Encode())
			}
		}
	})
}
