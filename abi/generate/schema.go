package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"outlast/abi/fields"
)

// schema is the message's JSON Schema.
func (m *message) schema() string {
	head := fmt.Sprintf(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://outlast.example/abi/1/%s.json","title":%s,`, m.file, quoted(m.title))
	if m.answer() {
		return head + `"$ref":"envelope.json","properties":{"ok":` + object(m.of, m.open, m.rules) + `}}`
	}
	return head + strings.TrimPrefix(object(m.of, m.open, m.rules), "{")
}

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
	says := ""
	if f.Says != "" {
		says = `"description":` + quoted(plain(f.Says)) + ","
	}
	switch f.Kind {
	case "string":
		if f.High > 0 {
			return fmt.Sprintf(`{%s"type":"string","maxLength":%d}`, says, f.High)
		}
		return "{" + says + `"type":"string"}`
	case "text":
		return fmt.Sprintf(`{%s"type":"string","maxLength":%d}`, says, f.High)
	case "word":
		return "{" + says + `"enum":[` + strings.Join(words(f), ",") + `]}`
	case "integer":
		return fmt.Sprintf(`{%s"type":"integer","minimum":%d,"maximum":%d}`, says, f.Low, f.High)
	case "number":
		return "{" + says + `"type":"number"}`
	case "policy":
		return "{" + says + `"oneOf":[{"type":"string"},{"$ref":"policy.json"}]}`
	case "document":
		return "{" + says + `"$ref":"policy.json"}`
	case "array":
		return "{" + says + `"type":"array","items":` + inside(f.Of, open) + "}"
	case "object":
		return "{" + says + strings.TrimPrefix(inside(f.Of, open), "{")
	}
	return "{" + says + `"type":"` + f.Kind + `"}`
}

// inside is the schema of a message in another.
func inside(of fields.Message, open bool) string {
	if m := known(of); m != nil {
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

var link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// plain is what a table says of a field, without its links and quotes.
func plain(s string) string {
	return strings.ReplaceAll(link.ReplaceAllString(s, "$1"), "`", "")
}
