package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"outlast/abi/fields"
)

// schema is the message's JSON Schema.
func (m *message) schema() string {
	head := fmt.Sprintf(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://outlast.example/abi/1/%s.json","title":%s,`, m.file, quoted(m.title))
	if m.answer() {
		return head + `"$ref":"envelope.json","properties":{"ok":` + object(m.of, m.open, m.rules) + `}}`
	}
	text := head + strings.TrimPrefix(object(m.of, m.open, m.rules), "{")
	if m.file == "policy" {
		text = strings.TrimSuffix(text, "}") + `,"$defs":{` + parts() + "}}"
	}
	return text
}

// parts are what the policy document's schema has to refer to: it needs no other
// file, so that it can be printed by itself.
func parts() string {
	list := []string{
		`"duration":{"description":"A positive duration with a unit: us, ms, s, m or h, such as 150s, 500ms or 2m30s; a whole number of microseconds.",` +
			`"type":"string","allOf":[{"pattern":"^([0-9]+(\\.[0-9]+)?(us|ms|s|m|h))+$"},{"pattern":"[1-9]"}]}`,
		`"name":{"description":"Letters, digits, - and _.","type":"string","pattern":` + quoted(namePattern) + `}`,
	}
	for i := range messages {
		if m := &messages[i]; m.part != "" {
			list = append(list, fmt.Sprintf(`%s:{"description":%s,%s`, quoted(m.part), quoted(m.title), object(m.of, m.open, m.rules)[1:]))
		}
	}
	return strings.Join(list, ",")
}

const namePattern = "^[A-Za-z0-9_-]{1,64}$"

// object is the schema of an object with a message's fields.
func object(of fields.Message, open bool, rules string) string {
	var required, properties []string
	for _, f := range fields.Describe(of) {
		if f.Required {
			required = append(required, quoted(f.Name))
		}
		properties = append(properties, quoted(f.Name)+":"+property(&f, open))
	}
	s := `{"type":"object"`
	if !open {
		s += `,"additionalProperties":false`
	}
	if len(required) > 0 {
		s += `,"required":[` + strings.Join(required, ",") + `]`
	}
	s += `,"properties":{` + strings.Join(properties, ",") + `}`
	if rules != "" {
		s += "," + rules
	}
	return s + "}"
}

// property is the schema of a field.
func property(f *fields.About, open bool) string {
	var head []string
	if f.Says != "" {
		head = append(head, `"description":`+quoted(plain(f.Says)))
	}
	if d := defaultOf(f); d != "" {
		head = append(head, `"default":`+d)
	}
	return "{" + strings.Join(append(head, kind(f, open)...), ",") + "}"
}

// defaultOf is a field's default as JSON, "" where it can only be said in words.
func defaultOf(f *fields.About) string {
	is := strings.Trim(f.Default, "`")
	if slices.Contains(f.Words, is) && is != "" {
		return quoted(is)
	}
	if json.Valid([]byte(is)) {
		return is
	}
	return ""
}

// kind is what the schema of a field says of its values.
func kind(f *fields.About, open bool) []string {
	switch f.Kind {
	case "string", "text":
		return append([]string{`"type":"string"`}, bounds(f, "Length")...)
	case "word":
		return []string{`"enum":[` + strings.Join(words(f), ",") + `]`}
	case "integer":
		if f.Low == f.High {
			return []string{fmt.Sprintf(`"const":%d`, f.Low)}
		}
		return []string{fmt.Sprintf(`"type":"integer","minimum":%d,"maximum":%d`, f.Low, f.High)}
	case "fraction":
		return []string{fmt.Sprintf(`"type":"number","minimum":%d,"maximum":%d`, f.Low, f.High)}
	case "name", "duration":
		return []string{`"$ref":"#/$defs/` + f.Kind + `"`}
	case "policy":
		return []string{`"oneOf":[{"type":"string"},{"$ref":"policy.json"}]`}
	case "document":
		return []string{`"$ref":"policy.json"`}
	case "named":
		return []string{fmt.Sprintf(`"type":"object","maxProperties":%d,"propertyNames":{"pattern":%s},"additionalProperties":%s`,
			f.High, quoted(namePattern), inside(f.Of, open))}
	case "array":
		items := []string{`"type":"array"`}
		items = append(items, bounds(f, "Items")...)
		if f.Items != nil {
			return append(items, `"items":`+property(f.Items, open))
		}
		return append(items, `"items":`+inside(f.Of, open))
	case "object":
		return []string{strings.TrimSuffix(strings.TrimPrefix(inside(f.Of, open), "{"), "}")}
	}
	return []string{`"type":"` + f.Kind + `"`}
}

// bounds are the least and the most of what: Length or Items.
func bounds(f *fields.About, what string) (list []string) {
	if f.Low > 0 {
		list = append(list, fmt.Sprintf(`"min%s":%d`, what, f.Low))
	}
	if f.High > 0 {
		list = append(list, fmt.Sprintf(`"max%s":%d`, what, f.High))
	}
	return list
}

// inside is the schema of a message in another.
func inside(of fields.Message, open bool) string {
	switch m := known(of); {
	case m == nil:
	case m.part != "":
		return `{"$ref":"#/$defs/` + m.part + `"}`
	default:
		return `{"$ref":"` + m.file + `.json"}`
	}
	return object(of, open, "")
}

// words are the words of a field, quoted; one that is empty cannot be given.
func words(f *fields.About) (list []string) {
	for _, w := range f.Words {
		if w != "" {
			list = append(list, quoted(w))
		}
	}
	return list
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string is never refused
	}
	return string(text)
}

var (
	link     = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	emphasis = regexp.MustCompile(`\*(\w+)\*`)
)

// plain is what a table says of a field, without its links, emphasis and quotes.
func plain(s string) string {
	s = emphasis.ReplaceAllString(link.ReplaceAllString(s, "$1"), "$1")
	return strings.ReplaceAll(s, "`", "")
}
