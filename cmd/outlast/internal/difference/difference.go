// Package difference says in words how two policies differ, and what of that decides
// what is repeated.
package difference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Difference is one point in which a policy differs from another.
type Difference struct {
	Text    string `json:"text"`
	Repeats bool   `json:"repeats"` // it bears on what is repeated, and not only on when and for how long
}

// tree is a part of a document: an object, an array or a value.
type tree = any
type object = map[string]tree

// Of are the points in which b differs from a. Both are documents in normal form.
func Of(a, b string) []Difference {
	d := &differ{}
	before, after := read(a), read(b)
	for _, member := range names(before, after) {
		switch member {
		case "budgets", "rules":
		case "name", "description", "measured":
			d.value(member, before[member], after[member], false)
		default:
			d.value(member, before[member], after[member], true)
		}
	}
	d.budgets(before["budgets"].(object), after["budgets"].(object))
	d.rules(before["rules"].([]tree), after["rules"].([]tree))
	return d.list
}

// Repeats are those that bear on what is repeated.
func Repeats(list []Difference) (only []Difference) {
	for _, d := range list {
		if d.Repeats {
			only = append(only, d)
		}
	}
	return only
}

func read(document string) (o object) {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		panic(err) // it was written from a policy that has been checked
	}
	return o
}

type differ struct{ list []Difference }

func (d *differ) add(repeats bool, format string, args ...any) {
	d.list = append(d.list, Difference{fmt.Sprintf(format, args...), repeats})
}

// value compares what has no parts of its own that are told.
func (d *differ) value(what string, a, b tree, repeats bool) {
	switch {
	case reflect.DeepEqual(a, b):
	case a == nil:
		d.add(repeats, "%s: is new: %s", what, show(b))
	case b == nil:
		d.add(repeats, "%s: is gone; it was %s", what, show(a))
	default:
		d.add(repeats, "%s: is %s; it was %s", what, show(b), show(a))
	}
}

// times are the members of a budget that say when and for how long something is
// repeated, in words. Every other says what is, or how often.
var times = map[string]string{
	"max_wait": "window",
	"windows":  "outages that a call may meet",
	"backoff":  "backoff",
	"wake":     "wake",
}

func (d *differ) budgets(a, b object) {
	for _, name := range names(a, b) {
		before, after := a[name], b[name]
		what := "budget " + name
		if before == nil || after == nil {
			d.value(what, before, after, true)
			continue
		}
		for _, member := range names(before.(object), after.(object)) {
			words, isTime := times[member]
			d.parts(what+", "+cmp.Or(words, member), before.(object)[member], after.(object)[member], !isTime)
		}
	}
}

// parts compares objects member by member, and arrays item by item.
func (d *differ) parts(what string, a, b tree, repeats bool) {
	switch a := a.(type) {
	case object:
		if b, too := b.(object); too {
			for _, member := range names(a, b) {
				d.parts(what+" "+member, a[member], b[member], repeats)
			}
			return
		}
	case []tree:
		b, too := b.([]tree)
		if too && isList(a) && isList(b) {
			d.lists(what, a, b, repeats)
			return
		}
		if too && len(a) == len(b) {
			for i := range a {
				d.parts(fmt.Sprintf("%s[%d]", what, i), a[i], b[i], repeats)
			}
			return
		}
	}
	d.value(what, a, b, repeats)
}

// isList says whether an array has texts and numbers only, whose order says nothing.
func isList(items []tree) bool {
	return !slices.ContainsFunc(items, func(item tree) bool {
		switch item.(type) {
		case object, []tree:
			return true
		}
		return false
	})
}

func (d *differ) lists(what string, a, b []tree, repeats bool) {
	before := len(d.list)
	for _, item := range b {
		if !slices.Contains(a, item) {
			d.add(repeats, "%s: has %s too", what, show(item))
		}
	}
	for _, item := range a {
		if !slices.Contains(b, item) {
			d.add(repeats, "%s: has no %s any more", what, show(item))
		}
	}
	if len(d.list) == before {
		d.value(what, a, b, repeats) // another order, or one twice
	}
}

// rules compares what stands between the first rules that are the same and the last
// ones that are.
func (d *differ) rules(a, b []tree) {
	first := 0
	for first < min(len(a), len(b)) && reflect.DeepEqual(a[first], b[first]) {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && reflect.DeepEqual(a[len(a)-1-last], b[len(b)-1-last]) {
		last++
	}
	a, b = a[first:len(a)-last], b[first:len(b)-last]
	if len(a) == len(b) {
		for i := range a {
			d.parts(rule(first+i, b[i]), a[i], b[i], true)
		}
		return
	}
	for i, r := range a {
		d.value(rule(first+i, r), r, nil, true)
	}
	for i, r := range b {
		d.value(rule(first+i, r), nil, r, true)
	}
}

// rule names a rule as explain does, by its place, which counts from 1, and its kind.
func rule(i int, r tree) string { return fmt.Sprintf("rule %d (%s)", i+1, r.(object)["kind"]) }

func names(a, b object) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// show is a value on one line, as JSON but for a text.
func show(v tree) string {
	if text, is := v.(string); is {
		return text
	}
	text, _ := json.Marshal(v)
	const most = 300 // bytes of a value (a choice: more is looked up in the documents)
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}
