package tests

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// docs/telemetry.md has a row for each metric, label and attribute of
// abi/telemetry.json, in its words, and no other.
func TestTelemetryPage(t *testing.T) {
	page, err := os.ReadFile("../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../abi/telemetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Labels  map[string]string
		Metrics []struct {
			Name, Type, Counts string
			Labels, Hosts      []string
		}
		Spans []struct {
			Attributes []struct{ Name, Type, Means string }
		}
		Logs []string
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for name, is := range said.Labels {
		rows["| `"+name+"` | "+is+" |"] = true
	}
	for _, m := range said.Metrics {
		if m.Hosts != nil {
			m.Counts += " (the " + strings.Join(m.Hosts, ", ") + " only)"
		}
		rows["| `"+m.Name+"` | "+m.Type+" | `"+strings.Join(m.Labels, "`, `")+"` | "+m.Counts+" |"] = true
	}
	for _, s := range said.Spans {
		for _, a := range s.Attributes {
			rows["| `"+a.Name+"` | "+a.Type+" | "+a.Means+" |"] = true
		}
	}
	there := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		there[strings.TrimSpace(line)] = true
	}
	for row := range rows {
		if !there[row] {
			t.Errorf("the page lacks %s", row)
		}
	}
	for line := range there {
		if strings.HasPrefix(line, "| `outlast") && !strings.Contains(line, "| type | is |") && !rows[line] {
			t.Errorf("the page has %s", line)
		}
	}
	if fields := "`" + strings.Join(said.Logs, "`, `") + "`"; !strings.Contains(string(page), fields) {
		t.Errorf("the page lacks %s", fields)
	}
}
