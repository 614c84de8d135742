package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestNormalIsItsOwnNormal(t *testing.T) {
	texts := map[string]string{"tiny": tiny}
	for _, name := range Names() {
		texts[name] = Source(name)
	}
	for name, text := range texts {
		doc := parsed(t, text)
		again := parsed(t, doc.Normal)
		if again.Normal != doc.Normal || again.Digest != doc.Digest {
			t.Errorf("%s: the normal form has another normal form:\n%s\n%s", name, doc.Normal, again.Normal)
		}
		// Nothing got lost on the way.
		if !reflect.DeepEqual(again, doc) {
			t.Errorf("%s: the normal form is another policy", name)
		}
		if !json.Valid([]byte(doc.Normal)) {
			t.Errorf("%s: not JSON", name)
		}
	}
}

// What says the same is the same policy.
func TestDigestDependsOnMeaningOnly(t *testing.T) {
	want := parsed(t, tiny).Digest
	if len(want) != 32 || strings.Trim(want, "0123456789abcdef") != "" {
		t.Errorf("the digest is %q", want)
	}
	for name, text := range map[string]string{
		"white space":        strings.ReplaceAll(strings.ReplaceAll(tiny, "\n", "\r\n\t"), ": ", ":"),
		"another unit":       change(t, `"60s"`, `"1m"`),
		"two units":          change(t, `"60s"`, `"0.5m30000ms"`),
		"another number":     change(t, `"multiplier": 2`, `"multiplier": 0.2e1`),
		"an escape":          change(t, `"kind": "gone"`, `"kind": "\u0067one"`),
		"order of members":   change(t, `"times": "once", "on_failure": "stop"`, `"on_failure": "stop", "times": "once"`),
		"a default left out": change(t, `, "jitter_at_cap": "kept"`, ``, `"call_budget": "clamp",`, ``),
		"a default written":  change(t, `{"kind": "failed", "then"`, `{"kind": "failed", "server": "unseen", "then"`),
		"another default":    change(t, `"version": 1`, `"version": 1, "colours": "removed"`),
	} {
		if got := parsed(t, text).Digest; got != want {
			t.Errorf("%s: another digest", name)
		}
	}
}

func TestDigestDependsOnEveryField(t *testing.T) {
	seen := map[string]string{parsed(t, tiny).Digest: "nothing"}
	for _, c := range [][2]string{
		{`"version": 1`, `"version": 1, "colours": "kept"`}, {`"name": "tiny"`, `"name": "tinier"`}, {"One of everything.", "Another."}, {`"a restart"`, `"b"`}, {`"25s"`, `"26s"`},
		{`"source": "measured"`, `"source": "guessed"`}, {`"source": "measured"`, `"up": "now"`}, {`"source": "measured"`, `"down": "now"`},
		{`"60s"`, `"61s"`}, {`"windows": 2`, `"windows": 3`}, {`"broken_connections": 1`, `"broken_connections": 0`},
		{`"broken_connections": 1,`, ``}, {`"windows": 2,`, ``}, {`"500ms"`, `"501ms"`}, {`"multiplier": 2`, `"multiplier": 2.000001`},
		{`"10s"`, `"11s"`}, {`"jitter": 0.1`, `"jitter": 0.11`}, {`"kept"`, `"cut"`}, {`"clamp"`, `"ignore"`}, {`"clamp"`, `"stop_at"`},
		{`"clamp"`, `"stop_above"`}, {`"reads": "accepting"`, `"reads": "ready"`}, {`"reads": "accepting", `, ``}, {`"writes": "ready", `, ``},
		{`"100ms"`, `"10ms"`}, {`"hold_off": "1s"`, `"hold_off": "2s"`}, {`"max_vain": 3`, `"max_vain": 4`}, {`"attempts": 6`, `"attempts": 7`},
		{`"full_jitter"`, `"exponential"`}, {`"101ms"`, `"102ms"`}, {`"multiplier": 3`, `"multiplier": 4`}, {`"cap": "2s"`, `"cap": "3s"`},
		{`"120s"`, `"121s"`}, {`"max": "120s", `, ``}, {`"jitter": 0.2`, `"jitter": 0`}, {`"gone"`, `"Gone"`},
		{`"server": "answered"`, `"server": "broken"`}, {`"transport": "process", `, ``}, {`[7]`, `[7, 8]`}, {`"sent": ["no"]`, `"sent": ["no", "unknown"]`},
		{`"sent": ["no"]`, `"failures": ["stale"]`}, {`"sent": ["no"]`, `"failures": ["none"]`}, {`"sent": ["no"]`, `"only_request": true`}, {`"sent": ["no"]`, `"retry_after": true`},
		{`"at": 1`, `"at": 2`}, {`"starts"`, `"is"`}, {`"starts"`, `"any"`}, {`"starts"`, `"all"`}, {`"starts"`, `"none"`}, {`["gone"]`, `["Gone"]`},
		{`"remote": false`, `"remote": true`}, {`"if": {"write": true, `, `"if": {"write": false, `}, {`"if": {"surface_conflict": false}`, `"if": {"connect_retry": false}`}, {`"if": {"surface_conflict": false}`, `"if": {"refuses_before_acting": false}`},
		{`"Look."`, `"Look!"`}, {`"retry": "away"`, `"retry": "few"`}, {`[409]`, `[408]`}, {`SIGBUS`, `any`}, {`"effects": "none", "cause`, `"effects": "unknown", "cause`},
		{`"cause_count": 2`, `"cause_count": 3`}, {`"cause_count": 2, "write": true`, `"cause_count": 2, "write": false`}, {`, {"timed_out": true}`, ``},
		{`"once"`, `"each"`}, {`"on_failure": "stop"`, `"on_failure": "continue"`}, {`"times": "once"`, `"times": "once", "force": true`},
		{`"outcome": "conflict"`, `"outcome": "failed"`}, {`, "outcome": "conflict"`, ``}, {`[{"stop": {"effects": "none"}}]`, `[{"stop": {"effects": "unknown"}}]`},
	} {
		text := tiny
		if strings.Contains(c[0], `"gone"`) && c[0] == `"gone"` {
			text = strings.Replace(text, c[0], c[1], 1) // the kind; the marker has its own case
		} else {
			text = change(t, c[0], c[1])
		}
		what := c[0] + " → " + c[1]
		digest := parsed(t, text).Digest
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[digest] = what
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	doc := parsed(t, `{"version":1,"name":"x","budgets":{`+
		`"w":{"max_wait":"90s","backoff":{"type":"exponential","base":"1s","multiplier":1.5,"cap":"2s"},"wake":{"spread":"1ms","hold_off":"1us","max_vain":1}},`+
		`"l":{"attempts":2,"backoff":{"type":"linear","base":"0.25s","cap":"1m"},"retry_after":{}}},`+
		`"rules":[{"kind":"failed","then":[{"retry":"w"}]}]}`)
	const want = `{"version":1,"name":"x","measured":[],"budgets":{` +
		`"w":{"max_wait":"90s","backoff":{"type":"exponential","base":"1s","multiplier":1.5,"cap":"2s","jitter":0,"jitter_at_cap":"kept"},` +
		`"call_budget":"clamp","wake":{"spread":"1ms","hold_off":"1us","max_vain":1}},` +
		`"l":{"attempts":2,"backoff":{"type":"linear","base":"250ms","cap":"60s","jitter":0,"jitter_at_cap":"kept"},"call_budget":"clamp","retry_after":{"jitter":0}}},` +
		`"rules":[{"kind":"failed","server":"unseen","then":[{"retry":"w"}]}]}`
	if doc.Normal != want {
		t.Errorf("got  %s\nwant %s", doc.Normal, want)
	}
	// FNV-1a of that text, worked out apart: what a state names must not change
	// from build to build.
	if doc.Digest != "e1ca0fbecdc3adb748c2f7eb12783b22" {
		t.Errorf("the digest is %s", doc.Digest)
	}
	b := &doc.Budgets[0]
	if b.Broken != -1 || b.Windows != 0 || b.RetryAfter != nil || b.Wake.Reads != "" || b.Wake.Writes != "" {
		t.Errorf("got %+v", b)
	}
}
