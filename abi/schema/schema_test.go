package schema_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"outlast/abi/conformance"
	"outlast/abi/schema"
	"outlast/plugin/policy"
)

const base = "https://outlast.example/abi/1/"

// compiled are all schemas by name, without .json.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := fs.Glob(schema.Files, "*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	for _, name := range files {
		text, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(base+name, parsed(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]*jsonschema.Schema{}
	for _, name := range files {
		s, err := c.Compile(base + name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[strings.TrimSuffix(name, ".json")] = s
	}
	return out
}

func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %.100s", err, text)
	}
	return v
}

func TestSchemasAreWhole(t *testing.T) {
	all := compiled(t)
	for name := range all {
		text, err := schema.Files.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Schema string `json:"$schema"`
			ID     string `json:"$id"`
			Title  string `json:"title"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		if head.Schema != "https://json-schema.org/draft/2020-12/schema" || head.ID != base+name+".json" || head.Title == "" {
			t.Errorf("%s: %+v", name, head)
		}
		if formatted, err := conformance.Format(text); err != nil || string(formatted) != string(text) {
			t.Errorf("%s is not as conformance.Format would write it (%v)", name, err)
		}
	}
}

// The tool prints the document's schema by itself, so it must not need others.
func TestPolicySchemaStandsAlone(t *testing.T) {
	if own, err := schema.Files.ReadFile("policy.json"); err != nil || !bytes.Equal(own, schema.Policy) {
		t.Errorf("Policy is not policy.json (%v)", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(base+"policy.json", parsed(t, schema.Policy)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(base + "policy.json"); err != nil {
		t.Error(err)
	}
}

func TestBuiltInPoliciesAreValid(t *testing.T) {
	s := compiled(t)["policy"]
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"source": policy.Source(name), "normal form": doc.Normal} {
			if err := s.Validate(parsed(t, []byte(text))); err != nil {
				t.Errorf("the %s of %s: %v", what, name, err)
			}
		}
	}
}

// What the plugin refuses and a schema cannot, by case, each with the reason.
var beyondSchemas = map[string]string{
	"refused-repeated-member":         repeated,
	"refused-repeated-member-deep":    repeated,
	"refused-repeated-member-escaped": repeated,
	"refused-request-repeated":        repeated,
	"refused-request-repeated-deep":   repeated,

	"refused-large":         "a schema sees values, not bytes",
	"refused-request-large": "a schema sees values, not bytes",

	"refused-max-wait-below-a-microsecond": arithmetic,
	"refused-max-wait-too-long":            arithmetic,
	"refused-multiplier-decimals":          arithmetic + ": multipleOf a millionth works in no validator that has floating point",
	"refused-backoff-base-above-cap":       "two members are compared",

	"refused-wake-spread-cap-below-the-spread": "two members are compared",

	"refused-branch-budget":           "a name is looked up in another member",
	"refused-repair-in-a-window":      "a name is looked up in another member",
	"refused-last-rule-conditional":   last,
	"refused-last-branch-conditional": last,
	"refused-last-branch-repair-once": last,

	"refused-result-head-and-tail-long": arithmetic,

	"state-repair-wanted":      inState,
	"state-no-wait":            inState,
	"refused-state-run-repair": inState,
}

const (
	repeated   = "a schema sees members once they have been read, and then there is one"
	arithmetic = "a schema does no arithmetic"
	inState    = "whether an event may follow is in the state"
	last       = "a schema cannot say what holds for an array's last item only"
)

// What check, decide and run accept, the schemas accept; what they refuse, the
// schemas refuse, but for the exceptions.
func TestSchemasAgreeWithThePlugin(t *testing.T) {
	all := compiled(t)
	cases, err := conformance.Load()
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]*jsonschema.Schema{"check": all["policy"], "decide": all["decide-request"], "run": all["run-request"]}
	left := map[string]bool{}
	for name := range beyondSchemas {
		left[name] = true
	}
	refused := 0
	for i := range cases {
		c := &cases[i]
		s := inputs[c.Export]
		if s == nil {
			continue
		}
		input := c.Request()
		if c.Export == "check" { // which a byte order mark may precede, that is no JSON
			input = bytes.TrimPrefix(input, []byte("\ufeff"))
		}
		problem := invalid(s, input)
		malformed := c.WantError != nil && (c.WantError.Code == "bad_request" || c.WantError.Code == "invalid_policy")
		reason, excepted := beyondSchemas[c.Name]
		delete(left, c.Name)
		switch {
		case c.WantError == nil && problem != nil:
			t.Errorf("%s is right, and the schema refuses it: %v", c.Name, problem)
		case malformed && problem == nil && !excepted:
			t.Errorf("%s is wrong, and the schema accepts it: %.200s", c.Name, c.Request())
		case malformed && problem != nil && excepted:
			t.Errorf("%s is refused by the schema too: it needs no exception (%s)", c.Name, reason)
		case malformed:
			refused++
		}
		if _, err := policy.Parse(string(c.Request())); c.Export == "check" && (err != nil) != malformed {
			t.Errorf("%s: the policy reader says %v", c.Name, err)
		}
	}
	for name := range left {
		t.Errorf("the exception %q is of no case", name)
	}
	if refused < 150 {
		t.Errorf("only %d wrong inputs were tried", refused)
	}
}

// invalid says what is wrong with a text, if anything.
func invalid(s *jsonschema.Schema, text []byte) error {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return s.Validate(string(text)) // no JSON begins so
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// The messages in the cases are valid: results, calls, policies, actions,
// outcomes, and what a host function answers; so are the invalid ones invalid.
func TestMessagesOfCases(t *testing.T) {
	all := compiled(t)
	cases, err := conformance.Load()
	if err != nil {
		t.Fatal(err)
	}
	check := func(c *conformance.Case, name string, text json.RawMessage) {
		if text == nil {
			return
		}
		if err := all[name].Validate(parsed(t, text)); err != nil {
			t.Errorf("%s: %s: %v", c.Name, name, err)
		}
	}
	for i := range cases {
		c := &cases[i]
		check(c, "call", c.Call)
		if c.Policy != nil && c.Policy[0] == '{' {
			check(c, "policy", c.Policy)
		}
		for _, step := range c.Steps {
			check(c, "result", step.Attempt)
			check(c, "result", step.Repair)
			if string(step.Cancelled) != "true" {
				check(c, "result", step.Cancelled)
			}
			check(c, "action", step.Want)
			if b := step.Broken; b != nil {
				name := map[string]string{"outlast_now": "now", "outlast_sleep": "slept", "outlast_attempt": "event"}[b.Function]
				woken := b.Function == "outlast_attempt" && strings.Contains(b.Answer, "woken") // an event, but not here
				if invalid(all[name], []byte(b.Answer)) == nil && !woken {
					t.Errorf("%s: the schema accepts %s", c.Name, b.Answer)
				}
			}
		}
		if o := c.Outage; o != nil {
			var want conformance.OutageWant
			if err := json.Unmarshal(c.Want, &want); err != nil {
				t.Fatal(err)
			}
			check(c, "result", o.Down)
			check(c, "result", o.Up)
			check(c, "outcome", want.Outcome)
		}
	}
}

// Answers are open: a newer plugin may add members.
func TestAnswersAreOpen(t *testing.T) {
	all := compiled(t)
	for name, text := range map[string]string{
		"action":        `{"type":"retry","attempt":2,"delay_us":0,"later":1,"wake":{"by":"ready","later":1}}`,
		"outcome":       `{"type":"ok","attempts":1,"elapsed_us":0,"message":"m","history":[],"later":1}`,
		"decide-answer": `{"v":1,"ok":{"action":{"type":"stop","outcome":{"type":"ok","attempts":1,"elapsed_us":0,"message":"m","history":[]}},"later":1},"later":1}`,
	} {
		if err := all[name].Validate(parsed(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"action":          `{"type":"retry","delay_us":0}`,
		"outcome":         `{"type":"ok"}`,
		"envelope":        `{"v":1}`,
		"decide-answer":   `{"v":1,"ok":{}}`,
		"run-answer":      `{"v":1,"ok":{}}`,
		"check-answer":    `{"v":1,"ok":{"policy":{}}}`,
		"describe-answer": `{"v":1,"ok":{"abi":{"major":2}}}`,
	} {
		if all[name].Validate(parsed(t, []byte(text))) == nil {
			t.Errorf("%s accepts %s", name, text)
		}
	}
}
