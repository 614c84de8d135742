package record

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"outlast/abi/schema"
)

const schemas = "https://outlast.example/abi/1/"

// compiled are the schemas of the two files.
func compiled(t *testing.T) (events, report *jsonschema.Schema) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	names, err := fs.Glob(schema.Files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(schemas+name, parsed(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	return c.MustCompile(schemas + "log-event.json"), c.MustCompile(schemas + "report.json")
}

func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return v
}

// The schemas have each member that is written, and no other.
func TestSchemasNameEveryMember(t *testing.T) {
	for file, form := range map[string]any{"log-event.json": line{}, "report.json": report{}} {
		text, err := schema.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		sameMembers(t, file, s, reflect.TypeOf(form))
	}
}

func sameMembers(t *testing.T, path string, s map[string]any, form reflect.Type) {
	t.Helper()
	properties, _ := s["properties"].(map[string]any)
	names := map[string]bool{}
	for i := range form.NumField() {
		name, _, _ := strings.Cut(form.Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		names[name] = true
		member, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s does not have %s", path, name)
			continue
		}
		inner := form.Field(i).Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
			member, _ = member["items"].(map[string]any)
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && name != "plugin" {
			sameMembers(t, path+"."+name, member, inner)
		}
	}
	for name := range properties {
		if !names[name] {
			t.Errorf("%s has %s, which is not written", path, name)
		}
	}
}
