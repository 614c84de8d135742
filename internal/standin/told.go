package standin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// told is what a server says of a failure: the members that the command knows. All
// others are dropped, so that no server's answer can pass for the command's own words.
type told struct {
	text    string
	code    string
	details []member // in the order of detailNames
}

var codes = []string{
	"unauthorized", "forbidden", "bad_request", "api_contract_mismatch", "not_found", "method_not_allowed",
	"conflict", "too_many_requests", "service_unavailable", "graph_unavailable", "internal",
}

const mismatch = "api_contract_mismatch"

var detailNames = []string{
	"merge_conflicts", "published_dataset_version_conflict", "read_set_conflict", "key_conflict", "resource_limit",
	"blob_range", "external_blob_source", "recovery_required", "precondition_failure", "change_feed_gap",
	"change_diff_refusal", "full_text_index_rebuild_required", "diagnostic",
}

// readTold reads an error object. An unknown code or a doubled member makes the
// command take the whole body for plain text.
func readTold(body []byte) (t told, ok bool) {
	if _, err := decode(body); err != nil || !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return t, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	d.Token()
	seen := map[string]any{}
	for d.More() {
		name, _ := d.Token()
		var value any
		if d.Decode(&value) != nil {
			return t, false
		}
		known := name == "error" || name == "code" || slices.Contains(detailNames, name.(string))
		if _, doubled := seen[name.(string)]; known && doubled {
			return t, false
		}
		seen[name.(string)] = value
	}
	return t, t.take(seen)
}

func (t *told) take(seen map[string]any) (ok bool) {
	if t.text, ok = seen["error"].(string); !ok {
		return false
	}
	if code := seen["code"]; code != nil {
		if t.code, ok = code.(string); !ok || !slices.Contains(codes, t.code) {
			return false
		}
	}
	for _, name := range detailNames {
		value, given := seen[name]
		if name == "merge_conflicts" {
			if list, isList := value.([]any); given && !isList {
				return false
			} else if len(list) == 0 {
				continue
			}
		}
		if value != nil {
			t.details = append(t.details, member{name, value})
		}
	}
	return true
}

func (t *told) detail(name string) (any, bool) {
	for _, m := range t.details {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func (t *told) hasAny(names ...string) bool {
	return slices.ContainsFunc(t.details, func(m member) bool { return slices.Contains(names, m.name) })
}

func (t *told) members() []member {
	list := []member{{"error", t.text}}
	if t.code != "" {
		list = append(list, member{"code", t.code})
	}
	return append(list, t.details...)
}

// forPeople is the text that people get: a diagnostic has up to three lines.
func (t *told) forPeople() (text string, diagnosed bool) {
	value, ok := t.detail("diagnostic")
	if !ok {
		return t.text, false
	}
	diagnostic, _ := value.(map[string]any)
	word := func(name string) string { s, _ := diagnostic[name].(string); return s }
	lines := []string{"error[" + word("code") + "]: " + t.text}
	if at, ok := diagnostic["position"].(map[string]any); ok {
		lines = append(lines, "  --> line "+encode(at["line"])+", column "+encode(at["column"]))
	}
	if _, ok := diagnostic["fix"]; ok {
		lines = append(lines, "  fix: "+word("fix"))
	}
	return strings.Join(lines, "\n"), true
}
