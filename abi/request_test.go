package abi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecideRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := DecideRequest{
			Policy:  PolicyRef{Name: drawString(t, "policy") + "x"},
			Call:    drawCall(t),
			State:   rapid.StringN(-1, -1, MaxStateBytes).Draw(t, "state"),
			Event:   drawEvent(t),
			Explain: rapid.Bool().Draw(t, "explain"),
		}
		text := string(want.Encode())
		got, err := DecodeDecide(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("no JSON: %s", text)
		}
	})
}

func TestRunRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := RunRequest{
			Policy: PolicyRef{Name: "omnigraph"},
			Call:   drawCall(t),
			State:  rapid.StringN(-1, -1, MaxStateBytes).Draw(t, "state"),
		}
		if rapid.Bool().Draw(t, "there is a first event") {
			e := drawEvent(t)
			want.First = &e
		}
		text := string(want.Encode())
		got, err := DecodeRun(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func TestPolicyDocumentIsKeptAsItStands(t *testing.T) {
	r := DecideRequest{
		Policy: PolicyRef{Document: `{"version":1,"extra":[true]}`},
		Event:  Event{Type: Cancelled},
	}
	got, err := DecodeDecide(string(r.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Policy, got.Policy); diff != "" {
		t.Error(diff)
	}
}

// valid is a request that each case of TestBadRequests changes in one place.
const valid = `{"policy":"omnigraph",` +
	`"call":{"label":"query","remote":true,"write":false,"surface_conflict":false,"connect_retry":true,"budget_us":5,"started_us":0,"seed":1},` +
	`"state":"s",` +
	`"event":{"type":"attempted","now_us":10,"random":3,"result":{"exit_code":1,"stderr":"e","stdout":"o","retry_after_us":7,` +
	`"started_us":1,"ended_us":2,"timed_out":false,"streamed":false,"sent":"no"}},"explain":true}`

func TestBadRequests(t *testing.T) {
	if _, err := DecodeDecide(valid); err != nil {
		t.Fatalf("the request that the cases change is refused: %v", err)
	}
	long := strings.Repeat("x", MaxTextBytes+1)
	for _, c := range []struct {
		old, new string
		field    string
		message  string
	}{
		// Names are as the contract writes them, once each.
		{`"policy"`, `"Policy"`, "policy", "is missing"},
		{`"explain"`, `"EXPLAIN"`, "EXPLAIN", "is not a known field"},
		{`"explain":true`, `"explain":true,"extra":1`, "extra", "is not a known field"},
		{`"explain":true`, `"explain":true,"explain":true`, "", `member "explain" is repeated`},
		{`"seed":1`, `"Seed":1`, "call.Seed", "is not a known field"},
		{`"seed":1`, `"seed":1,"seed":1`, "", `member "seed" is repeated`},
		{`"random":3`, `"rand":3`, "event.rand", "is not a known field"},
		{`"stderr":"e"`, `"stdErr":"e"`, "event.result.stdErr", "is not a known field"},
		{`"explain":true}`, `"explain":true} {}`, "", "unexpected data after the value"},
		{`"explain":true}`, `"explain":true`, "", "expected , or } in an object"},
		// Nothing is missing that a decision needs.
		{`"policy":"omnigraph",`, ``, "policy", "is missing"},
		{`"remote":true,`, ``, "call.remote", "is missing: a policy cannot guess what is safe"},
		{`"write":false,`, ``, "call.write", "is missing: a policy cannot guess what is safe"},
		{`"type":"attempted",`, ``, "event.type", "is missing"},
		{`"now_us":10,`, ``, "event.now_us", "is missing"},
		// Kinds.
		{`"policy":"omnigraph"`, `"policy":5`, "policy", "expected a name or a document, not a number"},
		{`"policy":"omnigraph"`, `"policy":null`, "policy", "expected a name or a document, not null"},
		{`"label":"query"`, `"label":5`, "call.label", "expected a string, not a number"},
		{`"remote":true`, `"remote":"true"`, "call.remote", "expected a boolean, not a string"},
		{`"write":false`, `"write":null`, "call.write", "expected a boolean, not null"},
		{`"surface_conflict":false`, `"surface_conflict":0`, "call.surface_conflict", "expected a boolean, not a number"},
		{`"connect_retry":true`, `"connect_retry":[]`, "call.connect_retry", "expected a boolean, not an array"},
		{`"seed":1`, `"seed":"1"`, "call.seed", "expected a number, not a string"},
		{`"state":"s"`, `"state":{}`, "state", "expected a string, not an object"},
		{`"explain":true`, `"explain":1`, "explain", "expected a boolean, not a number"},
		{`"type":"attempted"`, `"type":"Attempted"`, "event.type", `expected one of "attempted", "woken", "down", "not_ready", "repaired", "cancelled", not "Attempted"`},
		{`"sent":"no"`, `"sent":"maybe"`, "event.result.sent", `expected one of "unknown", "no", "yes", not "maybe"`},
		{`"timed_out":false`, `"timed_out":"no"`, "event.result.timed_out", "expected a boolean, not a string"},
		{`"stderr":"e"`, `"stderr":["e"]`, "event.result.stderr", "expected a string, not an array"},
		{`"retry_after_us":7`, `"retry_after_us":"7"`, "event.result.retry_after_us", "expected a number, not a string"},
		{`"retry_after_us":7`, `"retry_after_us":null`, "event.result.retry_after_us", "expected a number, not null"},
		{`"result":{"exit_code":1`, `"result":[],"rest":{"exit_code":1`, "event.result", "expected an object, not an array"},
		// Numbers.
		{`"budget_us":5`, `"budget_us":0`, "call.budget_us", "expected a whole number from 1 to 9007199254740991, not 0"},
		{`"budget_us":5`, `"budget_us":-5`, "call.budget_us", "expected a whole number from 1 to 9007199254740991, not -5"},
		{`"budget_us":5`, `"budget_us":5.5`, "call.budget_us", "expected a whole number from 1 to 9007199254740991, not 5.5"},
		{`"budget_us":5`, `"budget_us":9007199254740992`, "call.budget_us", "expected a whole number from 1 to 9007199254740991, not 9007199254740992"},
		{`"budget_us":5`, `"budget_us":1e400`, "call.budget_us", "expected a whole number from 1 to 9007199254740991, not 1e400"},
		{`"seed":1`, `"seed":-1`, "call.seed", "expected a whole number from 0 to 9007199254740991, not -1"},
		{`"seed":1`, `"seed":9007199254740992`, "call.seed", "expected a whole number from 0 to 9007199254740991, not 9007199254740992"},
		{`"started_us":0`, `"started_us":-9007199254740992`, "call.started_us", "expected a whole number from -9007199254740991 to 9007199254740991, not -9007199254740992"},
		{`"now_us":10`, `"now_us":9007199254740993`, "event.now_us", "expected a whole number from -9007199254740991 to 9007199254740991, not 9007199254740993"},
		{`"now_us":10`, `"now_us":0.1`, "event.now_us", "expected a whole number from -9007199254740991 to 9007199254740991, not 0.1"},
		{`"random":3`, `"random":4294967296`, "event.random", "expected a whole number from 0 to 4294967295, not 4294967296"},
		{`"random":3`, `"random":-1`, "event.random", "expected a whole number from 0 to 4294967295, not -1"},
		{`"exit_code":1`, `"exit_code":1.5`, "event.result.exit_code", "expected a whole number from -9007199254740991 to 9007199254740991, not 1.5"},
		{`"exit_code":1`, `"http_status":-1`, "event.result.http_status", "expected a whole number from 0 to 9007199254740991, not -1"},
		{`"ended_us":2`, `"ended_us":1e16`, "event.result.ended_us", "expected a whole number from -9007199254740991 to 9007199254740991, not 1e16"},
		// Lengths.
		{`"label":"query"`, `"label":"` + strings.Repeat("x", 257) + `"`, "call.label", "is longer than 256 bytes"},
		{`"state":"s"`, `"state":"` + strings.Repeat("s", MaxStateBytes+1) + `"`, "state", "is longer than 1024 bytes"},
		{`"exit_code":1`, `"signal":"` + strings.Repeat("S", 33) + `"`, "event.result.signal", "is longer than 32 bytes"},
		{`"stderr":"e"`, `"stderr":"` + long + `"`, "event.result.stderr", "is longer than the 65536 bytes allowed: send its head and its tail"},
		{`"stdout":"o"`, `"stdout":"` + long + `"`, "event.result.stdout", "is longer than the 65536 bytes allowed: send its head and its tail"},
		{`"exit_code":1`, `"message":"` + long + `"`, "event.result.message", "is longer than the 65536 bytes allowed: send its head and its tail"},
		{`"stderr":"e"`, `"stderr_head":"` + long[:40000] + `","stderr_tail":"` + long[:40000] + `"`, "event.result.stderr", "is longer than the 65536 bytes allowed: send its head and its tail"},
		// Heads and tails.
		{`"stderr":"e"`, `"stderr":"e","stderr_head":"h"`, "event.result.stderr", "cannot stand beside its own head or tail"},
		{`"stdout":"o"`, `"stdout":"","stdout_tail":"t"`, "event.result.stdout", "cannot stand beside its own head or tail"},
		{`"stderr":"e"`, `"stderr_head":5`, "event.result.stderr_head", "expected a string, not a number"},
		{`"stderr":"e"`, `"stderr_Tail":"t"`, "event.result.stderr_Tail", "is not a known field"},
		// What belongs to which event.
		{`"type":"attempted"`, `"type":"woken","by":"ready"`, "event.result", "does not belong to a woken event"},
		{`"type":"attempted"`, `"type":"down"`, "event.result", "does not belong to a down event"},
		{`"type":"attempted"`, `"type":"attempted","by":"ready"`, "event.by", "belongs to a woken event only"},
		{`"event":{"type":"attempted","now_us":10,"random":3,"result"`, `"event":{"type":"attempted","now_us":10,"Result"`, "event.result", "is missing"},
		{`"event":{"type":"attempted","now_us":10,"random":3,"result"`, `"event":{"type":"repaired","now_us":10,"Result"`, "event.result", "is missing"},
		{`"event":{"type":"attempted","now_us":10,"random":3,"result"`, `"event":{"type":"woken","now_us":10,"Result"`, "event.by", "is missing"},
		{`"event":{"type":"attempted","now_us":10,"random":3,"result"`, `"event":{"type":"woken","by":"listening","now_us":10,"Result"`, "event.by", `expected one of "accepting", "ready", not "listening"`},
	} {
		if strings.Count(valid, c.old) != 1 {
			t.Fatalf("%s is not in the request once", c.old)
		}
		_, err := DecodeDecide(strings.Replace(valid, c.old, c.new, 1))
		checkBad(t, c.new, err, c.field, c.message)
	}
}

// checkBad wants a bad_request for the field, which says message.
func checkBad(t *testing.T, what string, err error, field, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%.80s: got %v, want an error", what, err)
		return
	}
	if e.Code != CodeBadRequest || e.Field != field || !strings.Contains(e.Message, message) {
		t.Errorf("%.80s:\n got %v\nwant bad_request: %s: %s", what, e, field, message)
	}
}

func TestRequestOfAnotherKind(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "5", `"x"`, "{"} {
		var e *Error
		if _, err := DecodeDecide(text); !errors.As(err, &e) || e.Code != CodeBadRequest {
			t.Errorf("DecodeDecide(%q): %v", text, err)
		}
		if _, err := DecodeRun(text); !errors.As(err, &e) || e.Code != CodeBadRequest {
			t.Errorf("DecodeRun(%q): %v", text, err)
		}
	}
}

func TestRequestsAreBounded(t *testing.T) {
	_, err := DecodeDecide(strings.Repeat(" ", MaxRequestBytes+1))
	checkBad(t, "too long", err, "", "longer than the 4194304 bytes allowed")
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	_, err = DecodeDecide(strings.Replace(valid, `"omnigraph"`, deep, 1))
	checkBad(t, "too deep", err, "", "nested deeper than 32 levels")
}

// Whole numbers may be written in any form.
func TestNumbersInAnyForm(t *testing.T) {
	for form, want := range map[string]int64{"512.0": 512, "1e3": 1000, "5.12E+2": 512, "9007199254740991": 9007199254740991, "0.5e1": 5} {
		r, err := DecodeDecide(strings.Replace(valid, `"seed":1`, `"seed":`+form, 1))
		if err != nil || *r.Call.Seed != want {
			t.Errorf("%s: %v, %v", form, r.Call.Seed, err)
		}
	}
}

// A Retry-After is a server's word: whatever it says, the request is read.
func TestRetryAfterIsAnyNumber(t *testing.T) {
	for form, want := range map[string]int64{
		"0": 0, "-1": -1, "0.25": 1, "1.000001": 2, "-0.5": -1, "1e300": 9007199254740991, "-1e300": -9007199254740991,
		"9007199254740993": 9007199254740991, "1e-300": 1, "1e99999999999999999999": 9007199254740991,
	} {
		r, err := DecodeDecide(strings.Replace(valid, `"retry_after_us":7`, `"retry_after_us":`+form, 1))
		if err != nil || *r.Event.Result.RetryAfterUS != want {
			t.Errorf("%s: %v, %v", form, r.Event.Result, err)
		}
	}
}

func TestBadRunRequests(t *testing.T) {
	const run = `{"policy":"omnigraph","call":{"remote":true,"write":true},"first":{"type":"attempted","now_us":1,"result":{"exit_code":1}}}`
	if _, err := DecodeRun(run); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, field, message string }{
		{`"first"`, `"First"`, "First", "is not a known field"},
		{`"first":{`, `"first":null,"x":{`, "first", "expected an object, not null"},
		{`"now_us":1`, `"now_us":"1"`, "first.now_us", "expected a number, not a string"},
		{`"exit_code":1`, `"exit_code":1,"Stderr":""`, "first.result.Stderr", "is not a known field"},
		{`"write":true`, `"write":true,"remote":true`, "", `member "remote" is repeated`},
		{`"first"`, `"explain":true,"first"`, "explain", "is not a known field"},
	} {
		_, err := DecodeRun(strings.Replace(run, c.old, c.new, 1))
		checkBad(t, c.new, err, c.field, c.message)
	}
}

func FuzzDecodeDecide(f *testing.F) {
	f.Add(valid)
	f.Add(`{"policy":{"a":1},"call":{"remote":true,"write":true},"event":{"type":"woken","by":"ready","now_us":-1}}`)
	f.Add(`{"policy":"x","call":{"remote":true,"write":true},"event":{"type":"cancelled","now_us":1e3,"result":{"stderr_head":"a"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := DecodeDecide(text)
		if err != nil || r.Policy.Name == "" {
			return
		}
		// What was read can be written, and is read the same.
		again, err := DecodeDecide(string(r.Encode()))
		if err != nil || !cmp.Equal(r, again) {
			t.Fatalf("%q is written as %s: %v", text, r.Encode(), err)
		}
	})
}
