package abi

import (
	"errors"
	"strings"
	"testing"

	"outlast/abi/strictjson"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecisionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawAction(t)
		state := drawString(t, "new state")
		got, gotState, err := DecodeDecision(string(EncodeDecision(&want, state)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || gotState != state {
			t.Fatalf("state %q, want %q; action (-want +got):\n%s", gotState, state, diff)
		}
	})
}

func TestActionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawAction(t)
		got, err := DecodeAction(string(want.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestRunAnswerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want RunAnswer
		if rapid.Bool().Draw(t, "it ended") {
			o := drawOutcome(t)
			want.Outcome = &o
		} else {
			want.Continue = &Continue{State: drawString(t, "state"), First: drawEvent(t)}
		}
		got, err := DecodeRunAnswer(string(want.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestDescriptionRoundTrip(t *testing.T) {
	want := Description{ABI: Version{Major, 2, 3}, Version: "1.2.3", Build: "go", Policies: []BuiltIn{{"a", "d1"}, {"b", "d2"}}}
	got, err := DecodeDescription(string(want.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(string(want.Encode()), `"abi":{"major":1,"minor":2,"patch":3}`) {
		t.Errorf("the contract's version is not in %s", want.Encode())
	}
}

// A host of this version understands what a later one of the same major adds.
func TestAnswersMayHaveUnknownFields(t *testing.T) {
	const answer = `{"v":1,"new":1,"ok":{"action":{"type":"retry","delay_us":5,"new":{},"wake":{"by":"ready","new":1},` +
		`"outcome":{"type":"ok","attempts":1,"elapsed_us":2,"new":[],"history":[{"attempt":1,"at_us":2,"kind":"k","new":0}]}},"state":"s","new":1}}`
	a, state, err := DecodeDecision(answer)
	if err != nil || a.DelayUS != 5 || a.Wake.By != Ready || a.Outcome.History[0].Kind != "k" || state != "s" {
		t.Errorf("got %+v, %q, %v", a, state, err)
	}
}

func TestErrorsComeThrough(t *testing.T) {
	want := &Error{Code: CodeInvalidPolicy, Message: "is bad", Field: "a.b", Faults: []strictjson.Fault{
		{Field: "a.b", Message: "is bad"}, {Field: "", Message: "is worse"},
	}}
	_, _, err := DecodeDecision(string(EncodeError(want)))
	var got *Error
	if !errors.As(err, &got) || !cmp.Equal(want, got) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBadAnswers(t *testing.T) {
	for _, c := range []struct{ answer, field, message string }{
		{"", "", "the plugin's answer is not JSON"},
		{"x", "", "the plugin's answer is not JSON"},
		{"[]", "v", "the plugin's answer has another version"},
		{`{"ok":{}}`, "v", "the plugin's answer has another version"},
		{`{"v":2,"ok":{}}`, "v", "the plugin's answer has another version"},
		{`{"v":1}`, "ok", "the plugin's answer is malformed: is missing"},
		{`{"v":1,"ok":{}}`, "action", "the plugin's answer is malformed: is missing"},
		{`{"v":1,"ok":{"action":{"type":5}}}`, "ok.action.type", "the plugin's answer is malformed: expected a string, not a number"},
		{`{"v":1,"ok":{"action":{"type":"retry","delay_us":-1}}}`, "ok.action.delay_us", "the plugin's answer is malformed: expected a whole number"},
		{`{"v":1,"ok":{"action":{"type":"retry","delay_us":9007199254740992}}}`, "ok.action.delay_us", "the plugin's answer is malformed: expected a whole number"},
	} {
		_, _, err := DecodeDecision(c.answer)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInternal || !strings.HasSuffix(e.Field, c.field) || !strings.HasPrefix(e.Message, c.message) {
			t.Errorf("%s: got %v, want internal: %s: %s", c.answer, err, c.field, c.message)
		}
	}
}
