package main

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/plugin/policy"
)

// through calls an export natively and gives its envelope.
func through(t *testing.T, export func(string) ([]byte, error), input string) envelope {
	t.Helper()
	text := enveloped(export, input)
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil || e.V != abi.Major || (e.OK == nil) == (e.Error == nil) {
		t.Fatalf("no envelope: %s: %v", text, err)
	}
	return e
}

type envelope struct {
	V     int
	OK    json.RawMessage
	Error *struct {
		Code, Message, Field string
		Faults               []struct{ Field, Message string }
	}
}

func wantError(t *testing.T, e envelope, code, field, message string) {
	t.Helper()
	if e.Error == nil || e.Error.Code != code || e.Error.Field != field || !strings.Contains(e.Error.Message, message) {
		t.Errorf("got %s %+v, want %s: %s: %s", e.OK, e.Error, code, field, message)
	}
}

func TestDescribe(t *testing.T) {
	text, err := describe("")
	if err != nil {
		t.Fatal(err)
	}
	d, err := abi.DecodeDescription(string(text))
	if err != nil || d.Version != abi.Release || !strings.HasPrefix(d.Build, "go") || len(d.Policies) != len(policy.Names()) {
		t.Fatalf("got %+v, %v", d, err)
	}
	for i, name := range policy.Names() {
		doc, _ := policy.BuiltIn(name)
		if d.Policies[i].Name != name || d.Policies[i].Digest != doc.Digest {
			t.Errorf("got %+v", d.Policies[i])
		}
	}
}

const small = `{"version":1,"name":"small","budgets":{"b":{"attempts":3,"backoff":{"type":"linear","base":"1s","cap":"1m"}}},` +
	`"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`

func TestCheck(t *testing.T) {
	var answer struct {
		Policy json.RawMessage
		Digest string
	}
	if err := json.Unmarshal(through(t, check, small).OK, &answer); err != nil {
		t.Fatal(err)
	}
	doc, err := policy.Parse(small)
	if err != nil || string(answer.Policy) != doc.Normal || answer.Digest != doc.Digest {
		t.Errorf("got %s", answer.Policy)
	}
}

func TestCheckReportsEveryFault(t *testing.T) {
	e := through(t, check, strings.NewReplacer(`"attempts":3`, `"attempts":0`, `"1m"`, `"1"`).Replace(small))
	wantError(t, e, abi.CodeInvalidPolicy, "budgets.b.attempts", "expected a whole number from 1 to 10000, not 0")
	if len(e.Error.Faults) != 2 || e.Error.Faults[1].Field != "budgets.b.backoff.cap" {
		t.Errorf("faults: %+v", e.Error.Faults)
	}
	wantError(t, through(t, check, ""), abi.CodeInvalidPolicy, "", "the value ends too early")
	wantError(t, through(t, check, strings.Repeat("[", 100<<20)), abi.CodeInvalidPolicy, "", "longer than the 262144 bytes allowed")
}

// request is a decide request about a first attempt that failed.
func request(policy string) string {
	return `{"policy":` + policy + `,"call":{"remote":true,"write":false,"seed":1},` +
		`"event":{"type":"attempted","now_us":5,"result":{"exit_code":1,"stderr":"x"}}}`
}

func TestDecideByNameDocumentAndDigest(t *testing.T) {
	clear(known)
	doc, _ := policy.Parse(small)
	wantError(t, through(t, decide, request(`"`+doc.Digest+`"`)), abi.CodeUnknownPolicy, "policy", "there is no built-in policy called")
	for _, ref := range []string{small, `"` + doc.Digest + `"`} {
		text, err := decide(request(ref))
		if err != nil {
			t.Fatal(err)
		}
		action, state, err := abi.DecodeDecision(string(text))
		if err != nil || action.Type != abi.Retry || action.DelayUS != 1_000_000 || !strings.Contains(state, doc.Digest) {
			t.Errorf("%.20s: %s, %v", ref, text, err)
		}
	}
	text, err := decide(request(`"omnigraph"`))
	if err != nil || !strings.Contains(string(text), `"type":"stop"`) {
		t.Errorf("%s, %v", text, err)
	}
	wantError(t, through(t, decide, request(`"Omnigraph"`)), abi.CodeUnknownPolicy, "policy", "there are omnigraph, witan-core")
}

// An instance remembers a few documents, and then forgets them all.
func TestDecideForgetsDocuments(t *testing.T) {
	clear(known)
	digests := map[string]bool{}
	for i := range maxKnown {
		text := strings.Replace(small, `"small"`, `"small`+strconv.Itoa(i)+`"`, 1)
		if _, err := decide(request(text)); err != nil {
			t.Fatal(err)
		}
		doc, _ := policy.Parse(text)
		digests[doc.Digest] = true
	}
	for digest := range digests {
		if _, err := decide(request(`"` + digest + `"`)); err != nil {
			t.Errorf("one of %d documents is forgotten: %v", maxKnown, err)
		}
	}
	if _, err := decide(request(small)); err != nil || len(known) != 1 {
		t.Errorf("%d documents are known after one more: %v", len(known), err)
	}
}

func TestDecideExplains(t *testing.T) {
	text, err := decide(strings.Replace(request(`"omnigraph"`), `{`, `{"explain":true,`, 1))
	if err != nil || !strings.Contains(string(text), `"why":{"rule":"failed"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestDecideErrors(t *testing.T) {
	wantError(t, through(t, decide, ""), abi.CodeBadRequest, "", "the value ends too early")
	wantError(t, through(t, decide, strings.Repeat(" ", 100<<20)), abi.CodeBadRequest, "", "longer than the 4194304 bytes allowed")
	wantError(t, through(t, decide, strings.Replace(request(`"omnigraph"`), `"call"`, `"state":"o1:x","call"`, 1)), abi.CodeBadState, "state", "is not a state of this version")
	wantError(t, through(t, decide, strings.Replace(request(`"omnigraph"`), `"exit_code"`, `"Exit_code"`, 1)), abi.CodeBadRequest, "event.result.Exit_code", "is not a known field")
	// The faults of a document in a request are below policy.
	e := through(t, decide, request(strings.NewReplacer(`"attempts":3`, `"attempts":0`, `"retry":"b"`, `"retry":"c"`).Replace(small)))
	wantError(t, e, abi.CodeInvalidPolicy, "policy.budgets.b.attempts", "expected a whole number from 1 to 10000, not 0")
	if len(e.Error.Faults) != 2 || e.Error.Faults[1].Field != "policy.rules[0].then[0].retry" {
		t.Errorf("faults: %+v", e.Error.Faults)
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	var list []int
	for message, export := range map[string]func(string) ([]byte, error){
		"panic: runtime error: index out of range": func(string) ([]byte, error) { return nil, errors.New(strconv.Itoa(list[5])) },
		"panic: runtime error: invalid memory":     func(string) ([]byte, error) { return nil, errors.New((*envelope)(nil).Error.Code) },
		"panic: boom":                              func(string) ([]byte, error) { panic("boom") },
		"panic: of an unknown kind":                func(string) ([]byte, error) { panic(5) },
	} {
		wantError(t, through(t, export, ""), abi.CodeInternal, "", message)
	}
}

func TestErrorsOfAnotherKindAreInternal(t *testing.T) {
	e := through(t, func(string) ([]byte, error) { return nil, errors.New("odd") }, "")
	wantError(t, e, abi.CodeInternal, "", "odd")
	if err := under("policy", errors.New("odd")); err.Error() != "odd" {
		t.Errorf("got %v", err)
	}
}
