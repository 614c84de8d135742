package conformance

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoadPutsNamedValuesInTheirPlace(t *testing.T) {
	cases, err := LoadFrom(fstest.MapFS{
		"a.json": {Data: []byte(`{"about":"a","cases":[{"name":"n","why":"w","policy":"p","call":{},"steps":[
			{"attempt":"r","want":{}},{"cancelled":true,"want":{}},{"repair":{"exit_code":0},"want_error":{"code":"x"}}]}]}`)},
		"b.json": {Data: []byte(`{"about":"b","results":{"r":{"exit_code":1}},"policies":{"p":{"version":1}}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	if c.File != "a" || string(c.Policy) != `{"version":1}` || string(c.Steps[0].Attempt) != `{"exit_code":1}` || len(c.Doors) != 4 {
		t.Errorf("got %+v", c)
	}
	if string(c.Steps[1].Cancelled) != "true" || string(c.Steps[2].Repair) != `{"exit_code":0}` {
		t.Errorf("a value that is no name stays: %+v", c.Steps)
	}
}

func TestLoadRefuses(t *testing.T) {
	const one = `{"about":"a","cases":[{"name":"n","why":"w",%}]}`
	for what, body := range map[string]string{
		"an unknown member":        `"polcy":"p"`,
		"no form":                  `"policy":"p"`,
		"no event":                 `"steps":[{"want":{}}]`,
		"two events":               `"steps":[{"attempt":{},"woken":"ready","want":{}}]`,
		"down, and an attempt":     `"steps":[{"attempt":{},"down":true,"want":{}}]`,
		"no expectation":           `"steps":[{"attempt":{}}]`,
		"two expectations":         `"steps":[{"attempt":{},"want":{},"want_error":{"code":"x"}}]`,
		"an unknown result":        `"steps":[{"attempt":"nobody","want":{}}]`,
		"a request without a want": `"export":"decide","raw":""`,
		"no base64":                `"export":"decide","raw_base64":"*","want":{}`,
	} {
		if _, err := LoadFrom(oneFile(strings.Replace(one, "%", body, 1))); err == nil || !strings.Contains(err.Error(), "a.json") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, files := range map[string]fstest.MapFS{
		"no JSON":            {"a.json": {Data: []byte(`cases:`)}},
		"no about":           {"a.json": {Data: []byte(`{"cases":[]}`)}},
		"no why":             {"a.json": {Data: []byte(`{"about":"a","cases":[{"name":"n","export":"x","want":{}}]}`)}},
		"two of one name":    {"a.json": {Data: []byte(`{"about":"a","cases":[{"name":"n","why":"w","export":"x","want":{}},{"name":"n","why":"w","export":"x","want":{}}]}`)}},
		"two results":        {"a.json": {Data: []byte(`{"about":"a","results":{"r":{}}}`)}, "b.json": {Data: []byte(`{"about":"b","results":{"r":{}}}`)}},
		"two policies alike": {"a.json": {Data: []byte(`{"about":"a","policies":{"p":{}}}`)}, "b.json": {Data: []byte(`{"about":"b","policies":{"p":{}}}`)}},
	} {
		if _, err := LoadFrom(files); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

// oneFile is a folder with one case file.
func oneFile(text string) fstest.MapFS {
	return fstest.MapFS{"a.json": {Data: []byte(text)}}
}
