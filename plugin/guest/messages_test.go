package main

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"outlast/abi"
	"outlast/abi/conformance"
	"outlast/abi/schema"
)

const schemaBase = "https://outlast.example/abi/1/"

// witness is a plugin whose messages are all held against the schemas.
type witness struct {
	t       *testing.T
	schemas map[string]*jsonschema.Schema
	seen    map[string]int
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	names, err := fs.Glob(schema.Files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	for _, name := range names {
		text, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(schemaBase+name, v); err != nil {
			t.Fatal(err)
		}
	}
	w := &witness{t: t, schemas: map[string]*jsonschema.Schema{}, seen: map[string]int{}}
	for _, name := range names {
		s, err := c.Compile(schemaBase + name)
		if err != nil {
			t.Fatal(err)
		}
		w.schemas[strings.TrimSuffix(name, ".json")] = s
	}
	return w
}

// hold holds a message against its schema.
func (w *witness) hold(name string, text []byte) {
	w.t.Helper()
	w.seen[name]++
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = w.schemas[name].Validate(v)
	}
	if err != nil {
		w.t.Errorf("%s: %v: %.500s", name, err, text)
	}
}

func (w *witness) Call(ctx context.Context, export string, input []byte, h conformance.Host) ([]byte, error) {
	answer, err := native{}.Call(ctx, export, input, watchedHost{w, h})
	if err != nil {
		return nil, err
	}
	failed := bytes.HasPrefix(answer, []byte(`{"v":1,"error":`))
	switch {
	case failed:
		w.hold("envelope", answer)
	case export == abi.ExportCheck:
		w.hold("policy", bytes.TrimPrefix(input, []byte("\ufeff")))
		w.hold("check-answer", answer)
	default:
		if export != abi.ExportDescribe {
			w.hold(export+"-request", input)
		}
		w.hold(export+"-answer", answer)
	}
	return answer, nil
}

// watchedHost holds what the host functions get against the schema of actions.
// What they answer is the cases', which are not always right.
type watchedHost struct {
	*witness
	conformance.Host
}

func (h watchedHost) Sleep(ctx context.Context, action []byte) []byte {
	h.hold("action", action)
	return h.Host.Sleep(ctx, action)
}

func (h watchedHost) Attempt(ctx context.Context, action []byte) []byte {
	h.hold("action", action)
	return h.Host.Attempt(ctx, action)
}

// Whatever the plugin says in the contract's cases is as the schemas have it,
// and so is whatever it does not refuse.
func TestMessagesAreValid(t *testing.T) {
	w := newWitness(t)
	cases, err := conformance.Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		for _, problem := range conformance.Check(t.Context(), w, &cases[i]) {
			t.Errorf("%s: %s", cases[i].Name, problem)
		}
	}
	for _, name := range []string{
		"envelope", "policy", "check-answer", "describe-answer", "decide-request", "decide-answer", "run-request", "run-answer", "action",
	} {
		if w.seen[name] == 0 {
			t.Errorf("no message of %s was seen", name)
		}
	}
}
