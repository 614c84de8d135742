package main

import (
	"path/filepath"
	"reflect"

	"outlast/abi"
	"outlast/abi/conformance"
	"outlast/abi/fields"
	"outlast/plugin/policy"
)

// message is a message of the contract with what its fields do not say.
type message struct {
	of    fields.Message
	file  string // of its schema; "": inside others
	part  string // of policy.json, as which its schema stands there
	rows  bool   // its fields stand in the table of what it is part of
	title string // of its schema; of a part its description
	open  bool   // a newer plugin may add members
	// rules are what must hold between the fields, as members of the schema: what
	// the message's Check sees to.
	rules string
}

var messages = []message{
	{of: &abi.Call{}, file: "call", title: "A call: the same for all of its attempts"},
	{of: &abi.Result{}, file: "result", title: "How one attempt or repair ended", rules: `"dependentSchemas":{` +
		`"failure":{"properties":{"exit_code":false,"signal":false}},` +
		`"stdout":{"properties":{"stdout_head":false,"stdout_tail":false}},` +
		`"stderr":{"properties":{"stderr_head":false,"stderr_tail":false}},` +
		`"message":{"properties":{"message_head":false,"message_tail":false}}}`},
	{of: &abi.Event{}, file: "event", title: "One thing that happened to a call", rules: `"allOf":[` +
		`{"if":{"properties":{"type":{"const":"woken"}}},"then":{"required":["by"],"properties":{"result":false}},"else":{"properties":{"by":false}}},` +
		`{"if":{"properties":{"type":{"enum":["down","not_ready"]}}},"then":{"properties":{"result":false}}},` +
		`{"if":{"properties":{"type":{"enum":["attempted","repaired"]}}},"then":{"required":["result"]}}]`},
	{of: &abi.Action{}, file: "action", title: "What the policy wants next", open: true,
		rules: `"if":{"properties":{"type":{"const":"retry"}}},"then":{"required":["attempt","delay_us"],"properties":{"outcome":false}},` +
			`"else":{"required":["outcome"],"properties":{"attempt":false,"delay_us":false,"repair":false,"wake":false,"state":false}}`},
	{of: &abi.Outcome{}, file: "outcome", title: "How a call ended", open: true},
	{of: &abi.DecideRequest{}, file: "decide-request", title: "The input of decide"},
	{of: &abi.Decision{}, title: "What decide answers", file: "decide-answer", open: true},
	{of: &abi.RunRequest{}, file: "run-request", title: "The input of run"},
	{of: &abi.RunAnswer{}, file: "run-answer", title: "What run answers", open: true, rules: `"oneOf":[{"required":["outcome"]},{"required":["continue"]}]`},
	{of: &abi.Slept{}, file: "slept", title: "What outlast_sleep answers", rules: `"if":{"properties":{"wait":{"const":"woken"}}},"then":{"required":["by"]}`},
	{of: &abi.Now{}, file: "now", title: "What outlast_now answers"},
	{of: &abi.Description{}, file: "describe-answer", title: "What describe answers", open: true},
	{of: &abi.Checked{}, file: "check-answer", title: "What check answers", open: true},
	{of: &abi.Error{}, file: "error", title: "Why there is no answer", open: true},
	{of: &policy.Document{}, file: "policy", title: "A policy document"},
	{of: &policy.Budget{}, part: "budget", title: "What bounds the retries of the rules that count on it: a window of time, or a number of attempts", rules: `"oneOf":[{"required":["max_wait"]},` +
		`{"required":["attempts"],"properties":{"windows":false,"broken_connections":false,"wake":false}}],` +
		`"allOf":[{"properties":{"wake":{"dependentRequired":{"spread_cap":["spread_multiplier"],"spread_late":["spread_multiplier"]}}}}]`},
	{of: &policy.Backoff{}, part: "backoff", title: "How delays grow, and how they are spread", rules: `"allOf":[` +
		`{"if":{"properties":{"type":{"const":"linear"}},"required":["type"]},"then":{"properties":{"multiplier":false}},"else":{"required":["multiplier"]}},` +
		`{"if":{"properties":{"type":{"const":"full_jitter"}},"required":["type"]},"then":{"properties":{"jitter":false,"jitter_at_cap":false}}}]`},
	{of: &policy.Rule{}, part: "rule", title: "Recognises a kind of failure, and says what then happens"},
	{of: &policy.Condition{}, part: "condition", title: "Holds if each part that is given does", rules: `"minProperties":1,"allOf":[{"properties":{"timed_out":{"const":true},"only_request":{"const":true},"retry_after":{"const":true}}},` +
		`{"if":{"properties":{"proof":{"const":"refused"}},"required":["proof"]},"then":{"required":["http_statuses"]}},` +
		`{"if":{"properties":{"proof":{"const":"exit_code"}},"required":["proof"]},"then":{"required":["exit_codes"]}}]`},
	{of: &policy.TextTest{}, part: "text", title: "Looks for words in one place. It holds if one of is, starts and any does (or none of these is given), and all of all, and none of none. Letters of ASCII compare without case", rules: `"anyOf":[{"required":["is"]},{"required":["starts"]},{"required":["any"]},{"required":["all"]},{"required":["none"]}],"allOf":[` +
		`{"if":{"properties":{"in":{"const":"cause"}},"required":["in"]},"then":{"required":["at"]},"else":{"properties":{"at":false}}},` +
		`{"if":{"properties":{"in":{"enum":["anywhere","shown"]}},"required":["in"]},"then":{"properties":{"is":false,"starts":false}}}]`},
	{of: &policy.Branch{}, part: "branch", title: "One way to go on", rules: `"oneOf":[{"required":["retry"]},{"required":["stop"]}],"dependentRequired":{"repair":["retry"]}`},
	{of: &policy.StopRule{}, part: "stop", rows: true, title: "The call ends", rules: `"if":{"properties":{"effects":{"const":"unknown"}}},"then":{"properties":{"outcome":{"const":"cancelled"}}}`},
}

// inPolicy says whether the message is the policy document or a part of it.
func (m *message) inPolicy() bool { return m.part != "" || m.file == "policy" }

// answers are the messages that stand in an envelope.
func (m *message) answer() bool {
	switch m.of.(type) {
	case *abi.Decision, *abi.RunAnswer, *abi.Description, *abi.Checked:
		return true
	}
	return false
}

// known is the message that a field has inside, if it has a schema of its own.
func known(of fields.Message) *message {
	for i := range messages {
		if reflect.TypeOf(messages[i].of) == reflect.TypeOf(of) {
			return &messages[i]
		}
	}
	return nil
}

// nameOf is a message's name in Go, such as Call.
func nameOf(of fields.Message) string { return reflect.TypeOf(of).Elem().Name() }

// generated are all files, by their path below root.
func generated(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for i := range messages {
		if messages[i].file == "" {
			continue
		}
		text, err := conformance.Format([]byte(messages[i].schema()))
		if err != nil {
			return nil, err
		}
		files[filepath.Join(root, "abi/schema", messages[i].file+".json")] = text
	}
	page := filepath.Join(root, "abi/ABI.md")
	text, err := withTables(page)
	if err != nil {
		return nil, err
	}
	files[page] = text
	files[filepath.Join(root, "js/src/wire/types.ts")] = []byte(typeScript())
	files[filepath.Join(root, "python/src/outlast/_wire/types.py")] = []byte(python())
	return files, nil
}
