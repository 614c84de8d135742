package difference_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"outlast/cmd/outlast/internal/difference"
	"outlast/cmd/outlast/internal/library"
	"outlast/plugin/policy"
)

func normal(t *testing.T, name string) string {
	t.Helper()
	doc, err := policy.Parse(library.Source(name))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Normal
}

func texts(list []difference.Difference) string {
	var lines []string
	for _, d := range list {
		lines = append(lines, fmt.Sprint(d.Repeats, " ", d.Text))
	}
	return strings.Join(lines, "\n")
}

func TestInWords(t *testing.T) {
	psql := normal(t, "psql")
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"max_wait":"120s"`, `"max_wait":"300s"`, "false budget unavailable, window: is 300s; it was 120s"},
		{`"max_wait":"120s"`, `"max_wait":"120s","windows":3`, "false budget unavailable, outages that a call may meet: is new: 3"},
		{`"max_wait":"120s"`, `"max_wait":"120s","broken_connections":3`, "true budget unavailable, broken_connections: is new: 3"},
		{`"cap":"10s"`, `"cap":"20s"`, "false budget unavailable, backoff cap: is 20s; it was 10s"},
		{`"spread":"30ms"`, `"spread":"3s"`, "false budget unavailable, wake spread: is 3s; it was 30ms"},
		{`"call_budget":"clamp"`, `"call_budget":"ignore"`, "true budget unavailable, call_budget: is ignore; it was clamp"},
		{`" failed: Host is down",`, ``, "true rule 4 (unavailable) when[0] text[1] any: has no  failed: Host is down any more"},
		{`"exit_codes":[2]`, `"exit_codes":[2,3]`, "true rule 4 (unavailable) when[0] exit_codes: has 3 too"},
		{`{"kind":"crashed"`, `{"kind":"fell"`, "true rule 3 (fell) kind: is fell; it was crashed"},
		{`{"kind":"crashed","server":"unseen","when":[{"signals":["any"]}],"then":[{"stop":{"effects":"unknown"}}]},`, ``, "true rule 3 (crashed): is gone; it was {"},
	} {
		changed := strings.Replace(psql, test.old, test.new, 1)
		if changed == psql && test.old != "" {
			t.Fatalf("psql's policy has no %s: %s", test.old, psql)
		}
		got := texts(difference.Of(psql, changed))
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s\nand not %s", got, test.want)
		}
	}
}

// Whatever is changed anywhere in a policy is told, and bears on what is repeated
// unless it is a window, a backoff, a wake or a word for people.
func TestEveryPlaceIsCompared(t *testing.T) {
	for _, name := range library.Names() {
		document := normal(t, name)
		var root map[string]any
		if err := json.Unmarshal([]byte(document), &root); err != nil {
			t.Fatal(err)
		}
		places := 0
		for change := range everyChange(root, nil) {
			places++
			after, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			list := difference.Of(document, string(after))
			if len(list) == 0 || (len(difference.Repeats(list)) > 0) == isTime(change) {
				t.Errorf("%s, %s: %s", name, strings.Join(change, "."), texts(list))
			}
		}
		if places < 30 {
			t.Errorf("%s has only %d places", name, places)
		}
		if got := difference.Of(document, document); len(got) > 0 {
			t.Errorf("%s differs from itself: %s", name, texts(got))
		}
	}
}

func isTime(path []string) bool {
	return slices.Contains([]string{"name", "description", "measured"}, path[0]) ||
		path[0] == "budgets" && len(path) > 2 && slices.Contains([]string{"max_wait", "windows", "backoff", "wake"}, path[2])
}

// everyChange changes one value after the other, and takes each change back.
func everyChange(v any, path []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		visit := func(item any, step string, set func(any)) {
			here := append(slices.Clone(path), step)
			switch item.(type) {
			case map[string]any, []any:
				for p := range everyChange(item, here) {
					yield(p)
				}
				return
			}
			set("changed")
			yield(here)
			set(item)
		}
		switch v := v.(type) {
		case map[string]any:
			for name, item := range v {
				visit(item, name, func(to any) { v[name] = to })
			}
		case []any:
			for i, item := range v {
				visit(item, fmt.Sprint(i), func(to any) { v[i] = to })
			}
		}
	}
}
