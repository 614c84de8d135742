package outages

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"outlast/abi/schema"
	"outlast/plugin/policy"
)

// at is a moment, so many seconds after one that is used throughout.
func at(seconds float64) time.Time {
	return time.Date(2026, 8, 3, 21, 20, 21, 0, time.UTC).Add(time.Duration(seconds*1e6).Truncate(1) * time.Microsecond)
}

// watched is an outage with all that can be known.
func watched() Outage {
	return Outage{
		Name: "graph at 2026-08-03T21:20:21Z", Duration: 61 * time.Second, Down: at(0), Up: at(61), Source: "outlast measure",
		Details: &Details{
			Target: "http://graph:8080/healthz", Host: "laptop", Tool: "outlast 1.2.3",
			DownBetween: Span{at(-0.1), at(0.001)}, UpBetween: Span{at(60.9), at(61)},
			TCP:  &Span{at(0), at(40.5)},
			HTTP: &Span{at(0), at(61)},
			Phases: []Phase{
				{State: Refused, Span: Span{at(0), at(40.5)}},
				{State: Accepting, Span: Span{at(40.5), at(41)}},
				{State: Unready, Span: Span{at(41), at(61)}, Status: 503},
			},
		},
	}
}

func TestResolution(t *testing.T) {
	o := watched()
	if o.Resolution() != 101*time.Millisecond || o.Longest() != 61*time.Second+100*time.Millisecond {
		t.Errorf("%v, %v", o.Resolution(), o.Longest())
	}
	o.Details = nil
	if o.Resolution() != 0 || o.Longest() != o.Duration {
		t.Errorf("%v, %v", o.Resolution(), o.Longest())
	}
}

func mustFormat(t testing.TB, list []Outage) string {
	t.Helper()
	text, err := Format(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is in the file's measured is what a policy takes, word for word.
func TestMeasuredIsAPolicys(t *testing.T) {
	second := watched()
	second.Name, second.Down, second.Up, second.Details = "by hand", time.Time{}, time.Time{}, nil
	text := mustFormat(t, []Outage{watched(), second})
	_, rest, _ := strings.Cut(text, `"measured": `)
	measured, _, _ := strings.Cut(rest, `"details"`)
	measured = strings.TrimSuffix(strings.TrimSpace(measured), ",")
	doc, err := policy.Parse(`{"version": 1, "name": "p", "measured": ` + measured + `, "budgets": {},
		"rules": [{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Measured) != 2 || doc.Measured[0].Duration != 61e6 || doc.Measured[0].Up != "2026-08-03T21:21:22Z" {
		t.Errorf("%+v", doc.Measured)
	}
	list, err := Parse(measured)
	if err != nil || len(list) != 2 || list[0].Name != watched().Name || !list[0].Up.Equal(at(61)) || list[1].Duration != 61*time.Second {
		t.Errorf("%v, %+v", err, list)
	}
}

// The outages of the built-in policies are read as they are.
func TestBuiltInPolicies(t *testing.T) {
	for _, name := range policy.Names() {
		_, rest, _ := strings.Cut(policy.Source(name), `"measured": `)
		measured, _, _ := strings.Cut(rest, `"budgets"`)
		list, err := Parse(strings.TrimSuffix(strings.TrimSpace(measured), ","))
		if err != nil || len(list) != 2 || list[0].Duration != 61*time.Second || list[1].Up.Sub(list[1].Down) != 52*time.Second {
			t.Errorf("%s: %v, %+v", name, err, list)
		}
	}
}

// replaced is the text of watched with one part of it changed.
func replaced(t *testing.T, old, with string) string {
	t.Helper()
	text := mustFormat(t, []Outage{watched()})
	if strings.Count(text, old) == 0 {
		t.Fatalf("%q is not in %s", old, text)
	}
	return strings.Replace(text, old, with, 1)
}

// bad are files that are refused, each with what the error must name. beyond
// says why a schema cannot see the fault; "" where it does.
func bad(t *testing.T) []struct{ name, text, want, beyond string } {
	const compared = "members are compared"
	entries := func(list ...string) string {
		return `{"version": 1, "measured": [` + strings.Join(list, ",\n") + `]}`
	}
	entry := func(down, up string) string {
		return fmt.Sprintf(`{"duration": "10s", "down": "2026-08-03T21:20:%sZ", "up": "2026-08-03T21:20:%sZ"}`, down, up)
	}
	var many, phases strings.Builder
	for i := range MaxOutages + 1 {
		fmt.Fprintf(&many, `%s{"duration": "1s"}`, []string{"", ","}[min(i, 1)])
	}
	for i := range MaxPhases + 1 {
		fmt.Fprintf(&phases, `%s{"state": "refused", "from": "2026-08-03T21:20:21Z", "to": "2026-08-03T21:20:21Z"}`, []string{"", ","}[min(i, 1)])
	}
	return []struct{ name, text, want, beyond string }{
		{"empty", "", "is empty", ""},
		{"blank", " \n", "is empty", ""},
		{"cut", "{\"version\": 1,\n \"measured\": [", "line 2, byte 15", ""},
		{"trailing", `{"version": 1, "measured": []} x`, "unexpected data", ""},
		{"no object", `"version"`, "expected an object", ""},
		{"no version", `{"measured": []}`, "version: is missing", ""},
		{"another version", `{"version": 2, "measured": [], "new": 1}`, "version: expected 1, the only version there is so far, not 2", ""},
		{"no measured", `{"version": 1}`, "measured: is missing", ""},
		{"unknown field", `{"version": 1, "measured": [], "outages": []}`, "outages: is not a known field", ""},
		{"repeated field", `{"version": 1, "version": 1, "measured": []}`, "version", "a schema sees one of them"},
		{"unknown field of an outage", entries(`{"duration": "1s", "resolution": "1s"}`), "measured[0].resolution: is not a known field", ""},
		{"no duration", entries(`{"duration": "1s"}`, `{"name": "x"}`), "measured[1].duration: is missing", ""},
		{"negative", entries(`{"duration": "-1s"}`), `measured[0].duration: expected a positive duration`, ""},
		{"no unit", entries(`{"duration": 61}`), `measured[0].duration: expected a positive duration`, ""},
		{"zero", entries(`{"duration": "0s"}`), `measured[0].duration: expected a positive duration`, ""},
		{"endless", entries(`{"duration": "745h"}`), `measured[0].duration: is longer than the 744h`, "a schema does no arithmetic"},
		{"never ends", entries(`{"duration": "10s", "down": "2026-08-03T21:20:21Z"}`), "measured[0].up: is missing: an outage that has not ended", ""},
		{"never began", entries(`{"duration": "10s", "up": "2026-08-03T21:20:21Z"}`), "measured[0].down: is missing", ""},
		{"ends before it begins", entries(entry("10", "00")), "measured[0].up: 2026-08-03T21:20:00Z is not after down", compared},
		{"ends as it begins", entries(entry("10", "10")), "measured[0].up", compared},
		{"another duration", entries(entry("10", "22")), "measured[0].duration: is 10s, but from down to up it is 12s", compared},
		{"overlap", entries(entry("10", "20"), entry("30", "40"), entry("19", "29")), "measured[2].down: 2026-08-03T21:20:19Z is before measured[0] has ended", compared},
		{"the same twice", entries(entry("10", "20"), entry("10", "20")), "measured[1].down", compared},
		{"a name twice", entries(`{"name": "a", "duration": "1s"}`, `{"name": "a", "duration": "2s"}`), `measured[1].name: "a" is the name of measured[0] too`, compared},
		{"no time", entries(`{"duration": "1s", "down": "yesterday", "up": "today"}`), `measured[0].down: expected a time such as`, ""},
		{"long ago", entries(`{"duration": "1s", "down": "0001-01-01T00:00:00Z", "up": "0001-01-01T00:00:01Z"}`), `measured[0].down: expected a time`, "a schema does no arithmetic"},
		{"nanoseconds", entries(`{"duration": "1s", "down": "2026-08-03T21:20:21.123456789Z", "up": "2026-08-03T21:20:22Z"}`), `measured[0].down: expected whole microseconds`, ""},
		{"a long name", entries(`{"duration": "1s", "name": "` + strings.Repeat("n", MaxText+1) + `"}`), "measured[0].name: has 1001 bytes", ""},
		{"many outages", entries(many.String()), "measured: has more outages than the 10000", ""},
		{"many bytes", entries() + strings.Repeat(" ", MaxBytes), "longer than the 16777216 bytes allowed", "a schema sees values, not bytes"},
		{"deep", `{"version": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "deep", ""},
		{"details of nothing", replaced(t, `"graph at 2026-08-03T21:20:21Z": {`, `"x": {`), `details["x"]: no outage in measured has this name`, compared},
		{"details are a list", `{"version": 1, "measured": [], "details": []}`, "details: expected an object", ""},
		{"no target", replaced(t, `"target": "http://graph:8080/healthz",`, ""), `details["graph at 2026-08-03T21:20:21Z"].target: is missing`, ""},
		{"unknown detail", replaced(t, `"host": "laptop"`, `"hosts": "laptop"`), `.hosts: is not a known field`, ""},
		{"details without times", replaced(t, `"down": "2026-08-03T21:20:21Z",
      "up": "2026-08-03T21:21:22Z",`, ""), "its outage has no down and up", compared},
		{"wrong resolution", replaced(t, `"resolution": "101ms"`, `"resolution": "1ms"`), `.resolution: expected "101ms"`, compared},
		{"no resolution", replaced(t, `"resolution": "101ms",`, ``), `.resolution: is missing`, ""},
		{"went before it was up", replaced(t, `"2026-08-03T21:20:20.9Z"`, `"2026-08-03T21:20:21.1Z"`), `.down_between[1]: 2026-08-03T21:20:21.001Z is before`, compared},
		{"went outside", replaced(t, `"2026-08-03T21:20:20.9Z"`, `"2026-08-03T21:20:21.0005Z"`), `.down_between: down, 2026-08-03T21:20:21Z, is not between`, compared},
		{"one bound", replaced(t, `"2026-08-03T21:20:20.9Z",`, ``), `.down_between: expected two times`, ""},
		{"a bound is no text", replaced(t, `"2026-08-03T21:20:20.9Z"`, `7`), `.down_between[0]: expected a string, not a number`, ""},
		{"unknown state", replaced(t, `"state": "refused"`, `"state": "gone"`), `.phases[0].state: expected one of`, ""},
		{"phases out of order", replaced(t, `"from": "2026-08-03T21:21:01.5Z"`, `"from": "2026-08-03T21:21:01.4Z"`), `.phases[1].from: 2026-08-03T21:21:01.4Z is out of order`, compared},
		{"a phase after the end", replaced(t, "\"to\": \"2026-08-03T21:21:22Z\"", `"to": "2026-08-03T21:21:23Z"`), `.phases[2].to: 2026-08-03T21:21:23Z is out of order`, compared},
		{"tcp back before it went", replaced(t, `"up": "2026-08-03T21:21:01.5Z"`, `"up": "2026-08-03T21:20:20Z"`), `.tcp.up: 2026-08-03T21:20:20Z is out of order`, compared},
		{"status", replaced(t, `"status": 503`, `"status": -1`), `.phases[2].status: expected a whole number`, ""},
		{"many phases", replaced(t, `"phases": [`, `"phases": [`+phases.String()+","), `.phases: has more phases than the 1000`, ""},
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range bad(t) {
		_, err := Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

// Two observers, or two servers, may be without an answer at the same time.
func TestWhatMayOverlap(t *testing.T) {
	first, other, elsewhere, manual := watched(), watched(), watched(), watched()
	other.Name, other.Details = "other", &Details{}
	*other.Details = *first.Details
	other.Details.Host = "desktop"
	elsewhere.Name, elsewhere.Details = "elsewhere", &Details{}
	*elsewhere.Details = *first.Details
	elsewhere.Details.Target = "tcp://other:1"
	manual.Name, manual.Details = "manual", nil
	mustFormat(t, []Outage{first, other, elsewhere, manual})
}

// All faults are told, each with its place.
func TestAllFaults(t *testing.T) {
	_, err := Parse(`{"version": 1, "measured": [{"duration": "-1s"}, {"duration": "1"}]}`)
	if err == nil || !strings.Contains(err.Error(), "(and 1 more)") {
		t.Error(err)
	}
	if faults := err.(*Error).Faults; len(faults) != 2 || faults[1].Field != "measured[1].duration" {
		t.Errorf("%+v", faults)
	}
}

func TestReadNamesTheFile(t *testing.T) {
	path := t.TempDir() + "/outages.json"
	if err := os.WriteFile(path, []byte(`{"version": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+": version: expected 1") {
		t.Error(err)
	}
	if _, err := Read(path + "x"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// anyList draws outages that were watched, without names or with details.
func anyList(t *rapid.T) []Outage {
	n := rapid.IntRange(0, 5).Draw(t, "n")
	clock := at(rapid.Float64Range(-1e6, 1e6).Draw(t, "start"))
	step := func(what string) time.Time {
		clock = clock.Add(time.Duration(rapid.Int64Range(1, 1e9).Draw(t, what)) * time.Microsecond)
		return clock
	}
	text := rapid.StringN(1, 40, 200)
	var list []Outage
	for i := range n {
		from, down := step("from"), step("down")
		before := step("before")
		o := Outage{Name: fmt.Sprintf("%d %s", i, text.Draw(t, "name")), Source: text.Draw(t, "source"), Down: down}
		d := &Details{Target: text.Draw(t, "target"), Host: text.Draw(t, "host"), Tool: text.Draw(t, "tool"), DownBetween: Span{from, before}}
		phase := before
		for range rapid.IntRange(0, 3).Draw(t, "phases") {
			p := Phase{State: rapid.SampledFrom(states).Draw(t, "state"), Status: rapid.Int64Range(0, 65535).Draw(t, "status")}
			p.From = phase
			p.To = step("phase")
			phase = p.To
			d.Phases = append(d.Phases, p)
		}
		after, up, to := step("after"), step("up"), step("to")
		d.UpBetween = Span{after, to}
		o.Up, o.Duration = up, up.Sub(down)
		if rapid.Bool().Draw(t, "tcp") {
			d.TCP = &Span{down, after}
		}
		if rapid.Bool().Draw(t, "http") {
			d.HTTP = &Span{down, up}
		}
		if rapid.Bool().Draw(t, "detailed") {
			o.Details = d
		} else if rapid.Bool().Draw(t, "timeless") {
			o.Down, o.Up = time.Time{}, time.Time{}
		}
		list = append(list, o)
	}
	return list
}

// What is written is read back equal, and the schema takes it.
func TestRoundTrip(t *testing.T) {
	s := compiledSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		list := anyList(t)
		text, err := Format(list)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, back, cmp.Transformer("empty", func(l []Outage) []Outage { return append([]Outage{}, l...) })); diff != "" && len(list) > 0 {
			t.Fatal(diff)
		}
		if v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil || s.Validate(v) != nil {
			t.Fatalf("%v, %v: %s", err, s.Validate(v), text)
		}
	})
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, name := range []string{"policy.json", "outages.json"} {
		text, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://outlast.example/abi/1/"+name, v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("https://outlast.example/abi/1/outages.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the reader refuses, the schema refuses, but for what it cannot see.
func TestSchemaAgrees(t *testing.T) {
	s := compiledSchema(t)
	for _, c := range bad(t) {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(c.text))
		refused := err != nil || s.Validate(v) != nil
		if refused == (c.beyond != "") {
			t.Errorf("%s: the schema refuses it: %v, although %q", c.name, refused, c.beyond)
		}
	}
	var measured any
	measured, err := jsonschema.UnmarshalJSON(strings.NewReader(mustFormat(t, []Outage{watched()})))
	if err != nil || s.Validate(measured) != nil {
		t.Errorf("%v, %v", err, s.Validate(measured))
	}
}

// Whatever is read can be written, and is then the same.
func FuzzParse(f *testing.F) {
	f.Add(mustFormat(f, []Outage{watched()}))
	f.Add(`[{"duration": "1m0.5s", "name": "x", "source": "y"}, {"duration": "1us"}]`)
	f.Add(`{"version": 1, "measured": [{"duration": "10.5s", "down": "2026-08-03T21:20:21+02:00", "up": "2026-08-03T21:20:31+02:00"}]}`)
	f.Add(`{"version": 1, "measured": [], "details": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			if _, known := err.(*Error); !known || err.Error() == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := Format(list)
		if err != nil {
			t.Fatalf("read, but not written: %v: %q", err, text)
		}
		back, err := Parse(string(again))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, back); diff != "" && len(list) > 0 {
			t.Fatal(diff)
		}
	})
}
