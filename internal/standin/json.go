package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// member is one of an object whose members have an order.
type member struct {
	name  string
	value any
}

// encode writes JSON as serde_json does: the members of an object that it does
// not know by name are sorted, and no character is escaped that need not be.
func encode(value any) string { return string(appendJSON(nil, value)) }

// indented is the same over several lines.
func indented(value any) string {
	var out bytes.Buffer
	if err := json.Indent(&out, appendJSON(nil, value), "", "  "); err != nil {
		panic(err) // what was just written is JSON
	}
	return out.String()
}

func appendJSON(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendString(b, v)
	case map[string]any:
		var members []member
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, member{name, v[name]})
		}
		return appendJSON(b, members)
	case []member:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.name), ':')
			b = appendJSON(b, m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	}
	text, err := json.Marshal(value) // null, a number or a truth value
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

func appendString(b []byte, text string) []byte {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	b = append(b, '"')
	for _, r := range text {
		if s, ok := short[r]; ok {
			b = append(b, s...)
		} else if r < ' ' {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// decode reads one JSON value, and nothing after it.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err == nil || d.InputOffset() < int64(len(bytes.TrimSpace(text))) {
		return nil, fmt.Errorf("trailing characters")
	}
	return value, nil
}
